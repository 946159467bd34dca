#!/usr/bin/env bash
# The Debian packages that ./dev package made: lintian has no errors; on a fresh Debian 12 they install, the README's tour
# runs, the module and a program of one's own work, and they are purged without a trace. TAP; the latter needs root, debootstrap and network.
#
#   package.sh DIR      DIR: where the packages are
set -u
debs=$(realpath "$1")
cd "$(dirname "$0")/../.." || exit 2

. test/dev/systems.sh
count=0 bad=0
tell() { # STATUS NAME
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2"; else
        bad=1
        echo "not ok $count - $2"
        tail -n 40 "$log" | sed 's/^/# /'
    fi
}
skip_rest() { # WHY
    count=$((count + 1))
    echo "ok $count - on a fresh system # SKIP $1"
    echo "1..$count"
    exit $bad
}
skip_all() { skip_rest "$1"; }
work=$(mktemp -d "${ASSAY_CHROOTS:-/var/tmp}/assay-package.XXXXXX") || exit 2
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 2' INT TERM
log=$work/log

# ---- as they are ----
for deb in "$debs"/*.deb; do
    dpkg-deb --info "$deb" >"$log" 2>&1
    tell $? "$(basename "$deb"), $(stat -c %s "$deb") bytes"
done
if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error --suppress-tags initial-upload-closes-no-bugs "$debs"/*.deb >"$log" 2>&1
    tell $? "lintian has no errors"
    sed 's/^/# /' "$log"
else
    count=$((count + 1))
    echo "ok $count - lintian has no errors # SKIP lintian is not installed"
fi

# ---- on a fresh system ----
[ "$(id -u)" = 0 ] || skip_rest "chroots need root"
command -v debootstrap >/dev/null || skip_rest "debootstrap is not installed"
root=$work/root
make_base "$root"
mkdir -p "$root/debs" "$root$home/assay/interp"
cp "$debs"/*.deb "$root/debs/"
cp -r README.md datasets "$root$home/assay/"
cp -r interp/docs "$root$home/assay/interp/"
traces() { # paths of ours, those that were copied aside
    find "$root" -xdev -path "$root/home" -prune -o -path "$root/debs" -prune -o -iname '*assay*' -print | sed "s|^$root||"
}
[ -z "$(traces)" ]
tell $? "nothing of ours is there"

# shellcheck disable=SC2046
apt_install "$root" $(cd "$root" && ls debs/*.deb | sed 's|^|/|')
tell $? "apt installs them, with what they ask for"
within "$root" root sh -c 'dpkg --audit && ! dpkg -l | grep -v "^ii" | grep assay' >"$log" 2>&1
tell $? "dpkg finds nothing amiss"
within "$root" "$user" assay --version >"$log" 2>&1
tell $? "$(tail -n 1 "$log")"
within "$root" "$user" python3 interp/docs/commands.py /usr/bin/assay . README.md "Five minutes" >"$log" 2>&1
tell $? "the README's tour: $(grep -c '^ok' "$log") commands, $(grep -c SKIP "$log") skipped"
grep SKIP "$log" | sed 's/^/# /'
within "$root" "$user" python3 -c '
import assay, numpy as np
net = assay.load("datasets/models/res_dsconv.onnx")
x = np.random.default_rng(1).normal(size=(2, 1, 1, 32, 32)).astype(np.float32)
profile = net.profile()
profile.observe(x)
program = net.quantize(profile, "tflite").program("tflite")
assert len(program.run(x[0])) > 20' >"$log" 2>&1
tell $? "the Python module finds the library"
within "$root" root sh -c 'ls /usr/share/man/man1/assay.1.gz /usr/share/man/man7/assay-schemes.7.gz /usr/share/bash-completion/completions/assay' >"$log" 2>&1
tell $? "manual and completion" # a minimal system may leave manuals out: dpkg's own choice
apt_install "$root" gcc libc6-dev pkg-config
cat >"$root/debs/own.c" <<'END'
#include <assay.h>
int main(void)
{
    assay_graph *g;
    assay_error err;
    return assay_load("datasets/models/res_dsconv.onnx", &g, &err);
}
END
within "$root" root sh -c 'cc -o /debs/own /debs/own.c $(pkg-config --cflags --libs assay) && /debs/own' >"$log" 2>&1
tell $? "a program links and runs"

within "$root" root sh -c 'DEBIAN_FRONTEND=noninteractive apt-get purge -y -qq assay libassay-dev libassay0 python3-assay' >"$log" 2>&1
tell $? "apt purges them"
traces >"$log"
[ ! -s "$log" ]
tell $? "nothing of ours is left"
echo "1..$count"
exit $bad
