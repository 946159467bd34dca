#!/usr/bin/env bash
# What ./dev does where something is missing, with stand-ins for the commands that it asks and calls.
#   dev.sh ASSAY SOURCE       TAP on standard output
set -u
. "$(dirname "$0")/../cli/tap.sh" "$1" "$2"
unset CC PKG_CONFIG ASSAY_BUILD ASSAY_WERROR
chmod 755 "$work"
mkdir tree bare
cp "$source/dev" "$source/meson_options.txt" tree/
cd tree || exit 2

# A system with the tools of a minimal Debian alone, for one who is not root.
for tool in bash sh env sed grep cut cat tail find stat dirname mkdir rm tr awk; do
    ln -s "$(command -v $tool)" ../bare/$tool
done
stand_in() { # NAME BODY: in place of what is there, never through it (a link leads to the system's own)
    rm -f "../bare/$1"
    printf '#!/bin/sh\n%s\n' "$2" >"../bare/$1"
    chmod +x "../bare/$1"
}
stand_in id 'case $1 in -u) echo 1000 ;; *) echo someone ;; esac'
lends() { # TOOL...: those that are here, where they were found: a wrapper (ccache) looks there for what it wraps
    local tool
    for tool; do
        [ ! -x "$(command -v "$tool")" ] || stand_in "$tool" "PATH='$PATH' exec '$(command -v "$tool")' \"\$@\""
    done
}
says() { # PATTERN NAME: what the last command wrote to stderr
    if grep -Eq "$1" err; then ok "$2"; else not_ok "$2"; fi
}
bare() { PATH=$work/bare "$@"; }

all='apt-get install .*gcc libc6-dev meson ninja-build pkg-config .*libpng-dev .*libyaml-dev'
stand_in apt-get 'exit 1'
refused "without root and sudo the packages are named" "there sudo.*$all" bare ./dev build
touch gcc cc meson ninja pkg-config protoc-c
refused "files of that name here are no commands" "$all" bare ./dev build
refused "golden asks for no packages of the tests" 'libyaml-dev$' bare ./dev golden
refused "test does" 'libcmocka-dev ' bare ./dev test
rm ../bare/apt-get gcc cc meson ninja pkg-config protoc-c
refused "nor is there apt" "no apt-get here.*$all" bare ./dev build

stand_in apt-get 'echo "$DEBIAN_FRONTEND $*" >>'"$work/apt"
stand_in sudo 'unset DEBIAN_FRONTEND; exec "$@"'
stand_in true ''
runs 2 "with sudo they are installed, and asked for again" bare ./dev build
says 'installed, but not found .*libpng-dev' "what is still not found is named"
prints '^noninteractive install .*libpng-dev' "apt-get asks nothing behind sudo" cat "$work/apt"
stand_in sudo 'echo "sudo: no" >&2; exit 1'
runs 2 "sudo refuses" bare ./dev build
says "sudo refuses.*$all" "then the packages are named"

# A library is what pkg-config knows and what links, whatever files lie about.
if command -v pkg-config >/dev/null && pkg-config --exists yaml-0.1; then
    before=$(cksum /usr/bin/dpkg-query 2>/dev/null)
    lends cc gcc pkg-config dpkg-query
    rm ../bare/sudo
    cat >../pc <<'END'
#!/bin/sh
case "$*" in *libpng) exit 1 ;; esac
exec pkg-config "$@"
END
    chmod +x ../pc
    stand_in dpkg-query 'exit 1'
    PKG_CONFIG=$work/pc bare ./dev build >out 2>err
    if grep -q libpng-dev err && ! grep -q yaml err; then ok "what pkg-config knows serves"; else not_ok "what pkg-config knows serves"; fi
    stand_in dpkg-query 'echo install ok installed'
    runs 2 "installed, but hidden from the build" env PKG_CONFIG="$work/pc" PATH="$work/bare" ./dev build
    says 'installed, but not found .*libpng-dev' "that is said"
    # a compiler that links nothing, as gcc -m32 without its libraries: no other package is asked for because of it
    stand_in apt-get 'echo "$*" >>'"$work/asked"
    stand_in sudo 'exec "$@"'
    stand_in links-nothing 'exit 1'
    stand_in dpkg-query 'case "$*" in *yaml*) exit 1 ;; esac; echo install ok installed'
    CC="links-nothing -m32" bare ./dev build >out 2>err
    if grep -q 'not found with links-nothing -m32 .* libc6-dev' err && ! grep -q yaml err && [ ! -e ../asked ]; then
        ok "a compiler that links nothing is said, and nothing installed for it"
    else
        not_ok "a compiler that links nothing is said, and nothing installed for it"
    fi
    rm ../bare/links-nothing
    if [ "$(cksum /usr/bin/dpkg-query 2>/dev/null)" = "$before" ]; then ok "the system's dpkg-query is as it was"; else not_ok "the system's dpkg-query is as it was"; fi
else
    skip "what pkg-config knows serves" "pkg-config does not know yaml-0.1 here"
fi

# A compiler is called with all its words: a wrapper's come first, options of the linker last.
lends cc gcc
stand_in wrapper 'exec "$@"'
if links=$(sed -n '/^links()/,/^}/p' dev) && eval "$links" &&
    PATH=$work/bare links 'int main(void) { return 0; }' wrapper gcc -O1 -lm &&
    ! PATH=$work/bare links 'int main(void) { return 0; }' wrapper gcc -lno-such-library; then
    ok "CC=\"wrapper gcc\" is asked as the build asks it"
else
    not_ok "CC=\"wrapper gcc\" is asked as the build asks it"
fi
rm -f ../bare/wrapper

# Build directories that cannot be used. All packages are there: every question has its answer.
for tool in cc gcc meson ninja pkg-config protoc-c; do
    rm -f ../bare/$tool
    stand_in $tool 'exit 0'
done
mkdir -p build/meson-info
echo '{"directories": {"source": "/gone", "build": "/gone/build"}}' >build/meson-info/meson-info.json
refused "a build directory of a source that moved" "build/ was set up for the source in /gone, not for $work/tree" bare ./dev build
rm -r build
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    mkdir -p build
    as_nobody() { PATH=$work/bare "$(command -v setpriv)" --reuid=65534 --regid=65534 --clear-groups "$@"; }
    refused "a build directory of another user" "^dev: build belongs to root, not to someone: remove build/" as_nobody ./dev build
    rm -r build
    refused "a source tree of another user" "cannot write to \./; ASSAY_BUILD=DIR" as_nobody ./dev build
    for file in build.log build; do touch $file; done
    rm build
    refused "an old log is no answer" "cannot write" as_nobody ./dev build
else
    skip "a build directory of another user" "needs root and setpriv"
fi
finish
