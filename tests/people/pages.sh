# The commands of pages of docs, as they are written: sourced by tests that play them. `docs` is the folder of the pages.

# line FILE BEGIN: the first command of a block of that page that begins so, with the lines that it goes on in, without its comment. Names in
# capitals are those that the page has the reader put in.
line() {
  awk -v b="$2" '/^```/ { open = !open; more = 0; next }
    open && (more || index($0, b) == 1) { print; more = /\\$/; if (!more) exit }' "$docs/$1" | sed 's/  *#.*$//' | put_in
}
# inline FILE BEGIN: the first command of the page's text that begins so.
inline() { grep -oE '`[^`]+`' "$docs/$1" | sed 's/^`//; s/`$//' | awk -v b="$2" 'index($0, b) == 1 { print; exit }' | put_in; }
put_in() { sed 's/REGISTRY/registry.example/g; s/\bTAG\b/0.1.0/g'; }
# block FILE NUMBER: that block of the page.
block() { awk -v n="$2" '/^```/ { open = !open; if (open) k++; next } open && k == n' "$docs/$1"; }
# play FILE BEGIN, play_inline FILE BEGIN: that command in the operator's folder ($work), its output in $scratch/said.
play() { play_command "$1" "$2" "$(line "$1" "$2")"; }
play_inline() { play_command "$1" "$2" "$(inline "$1" "$2")"; }
play_command() {
  [ -n "$3" ] || { echo "no such line in $1: $2"; return 1; }
  printf '%s\n' "$3" >> "$scratch/played"
  (cd "$work" && eval "$3") > "$scratch/said" 2>&1 || { cat "$scratch/said"; return 1; }
}
said() { grep -qE -- "$1" "$scratch/said" || { head -20 "$scratch/said"; return 1; }; }
