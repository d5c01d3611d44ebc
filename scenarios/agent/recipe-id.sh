# Prints the id of a recipe in the directory $1. Its id is the SipHash-1-3 (Aumasson and Bernstein, 2012) of its path and a
# byte 0xFF, with a key of zeros. The script picks the recipe for which the number of these bytes modulo 8 is $2.
LC_ALL=C
directory=$(cd "$1" && pwd -P)
for path in "$directory"/*.yaml; do
  length=$((${#path} + 1))
  ((length % 8 == $2)) && break
done
bytes=($(printf %s "$path" | od -An -v -tu1) 255)
while ((${#bytes[@]} % 8 != 7)); do bytes+=(0); done
bytes+=($((length % 256)))

v0=$((0x736f6d6570736575)) v1=$((0x646f72616e646f6d)) v2=$((0x6c7967656e657261)) v3=$((0x7465646279746573))
rotate() { # rotates the variable $1 left by $2 bits
  printf -v "$1" %d $((($1 << $2) | (($1 >> (64 - $2)) & ((1 << $2) - 1))))
}
round() {
  ((v0 += v1)); rotate v1 13; ((v1 ^= v0)); rotate v0 32
  ((v2 += v3)); rotate v3 16; ((v3 ^= v2))
  ((v0 += v3)); rotate v3 21; ((v3 ^= v0))
  ((v2 += v1)); rotate v1 17; ((v1 ^= v2)); rotate v2 32
}
for ((at = 0; at < ${#bytes[@]}; at += 8)); do
  word=0
  for ((i = 7; i >= 0; i--)); do word=$(((word << 8) | bytes[at + i])); done
  ((v3 ^= word)); round; ((v0 ^= word))
done
((v2 ^= 255)); round; round; round
printf %016x $((v0 ^ v1 ^ v2 ^ v3))
