# Images of both programs. docs/install.md says how to build and run them.
#
#   docker build -t lockstep:latest --target=lockstep .
#   docker build -t agentd:latest --target=agentd .

# What the programs run on: nothing but certificates, a folder for temporary files, and a user who is not root.
ARG BASE=scratch

FROM --platform=$BUILDPLATFORM golang:1.26.8@sha256:3c3e25a4da13fd0478eed2df1eb35a0e667094a7124d3993a6a1d30f71c17e79 AS build
ARG TARGETOS TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
# With .git, whose tag is the version.
COPY . .
RUN mkdir -p /out /data /root-of-image/tmp /root-of-image/etc/ssl/certs && chmod 1777 /root-of-image/tmp && \
    cp /etc/ssl/certs/ca-certificates.crt /root-of-image/etc/ssl/certs/ && \
    for program in lockstep agentd; do \
      CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH \
        go build -trimpath -buildvcs=true -ldflags="-s -w" -o /out/$program ./cmd/$program || exit 1; \
    done

FROM ${BASE} AS lockstep
COPY --from=build /root-of-image/ /
COPY --from=build /out/lockstep /usr/local/bin/lockstep
COPY LICENSE NOTICES /usr/share/doc/lockstep/
USER 65532:65532
WORKDIR /project
ENTRYPOINT ["/usr/local/bin/lockstep"]

FROM ${BASE} AS agentd
COPY --from=build /root-of-image/ /
COPY --from=build /out/agentd /usr/local/bin/agentd
COPY LICENSE NOTICES /usr/share/doc/agentd/
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
ENV GOOSE_PATH_ROOT=/data
WORKDIR /data
EXPOSE 3000
ENTRYPOINT ["/usr/local/bin/agentd"]
CMD ["agent", "--host", "0.0.0.0"]
