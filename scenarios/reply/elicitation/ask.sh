# An MCP server with one tool, ask, which asks the client by the method $METHOD, or else the user, with the parameters
# $PARAMS as they are, and tells how that went.
id() { # of the message $1
  [[ $1 =~ \"id\":([0-9]+|\"[^\"]*\") ]] && echo "${BASH_REMATCH[1]}"
}
answer() { # the message $1 with the result $2
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
      # The words of an unknown method are the library's.
      [[ -z $METHOD && $line =~ \"message\":\"([^\"\\]*)\" ]] && said+=": ${BASH_REMATCH[1]}"
    fi
    answer "$call" '{"content":[{"type":"text","text":"'"$said"'"}]}'
    ;;
  esac
done
