# An MCP server with one tool, ask. It sends the client a request with the method $METHOD (by default elicitation/create) and
# the parameters $PARAMS, and returns whether the client accepted, or the code of its error.
id() { # prints the id of the message $1
  [[ $1 =~ \"id\":([0-9]+|\"[^\"]*\") ]] && echo "${BASH_REMATCH[1]}"
}
answer() { # answers the message with the id $1 with the result $2
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"
}
while IFS= read -r line; do
  case $line in
  *'"initialize"'*) answer "$(id "$line")" '{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"ask","version":"1"}}' ;;
  *'"tools/list"'*) answer "$(id "$line")" '{"tools":[{"name":"ask","inputSchema":{"type":"object"}}]}' ;;
  *'"tools/call"'*)
    call=$(id "$line")
    printf '{"jsonrpc":"2.0","id":"question","method":"%s","params":%s}\n' "${METHOD:-elicitation/create}" "$PARAMS"
    ;;
  *'"question"'*)
    said=accepted
    if [[ $line =~ \"code\":(-?[0-9]+) ]]; then
      said=${BASH_REMATCH[1]}
      # Libraries word the error about an unknown method differently, so it is left out.
      [[ -z $METHOD && $line =~ \"message\":\"([^\"\\]*)\" ]] && said+=": ${BASH_REMATCH[1]}"
    fi
    answer "$call" '{"content":[{"type":"text","text":"'"$said"'"}]}'
    ;;
  esac
done
