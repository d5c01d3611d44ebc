# An MCP server with the tools $TOOLS, by default one called run. When a tool is called, it writes the line $SAID and returns
# $RESULT. Right after its initialization it asks $EARLY questions before it reads anything else.
[[ -n $TOOLS ]] || TOOLS='[{"name":"run","inputSchema":{"type":"object"}}]'
[[ -n $RESULT ]] || RESULT='{"content":[{"type":"text","text":"done"}]}'
answer() { # answers the message $1 with the result $2
  [[ $1 =~ \"id\":([0-9]+|\"[^\"]*\") ]] && printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "${BASH_REMATCH[1]}" "$2"
}
while IFS= read -r line; do
  case $line in
  *'"initialize"'*)
    answer "$line" '{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"scripted","version":"1"}}'
    for ((n = 0; n < ${EARLY:-0}; n++)); do
      printf '{"jsonrpc":"2.0","id":"early %s","method":"elicitation/create","params":{"message":"?","requestedSchema":{}}}\n' "$n"
    done
    ;;
  *'"tools/list"'*) answer "$line" "{\"tools\":$TOOLS}" ;;
  *'"tools/call"'*)
    printf '%s\n' "$SAID"
    answer "$line" "$RESULT"
    ;;
  esac
done
