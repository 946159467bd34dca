#!/usr/bin/env bash
# The first commands on fresh machines: Debian 12 in chroots made with debootstrap, from the mirror that this
# machine's apt uses. Called by ./dev chroot. TAP; needs root, network access, and minutes.
#
#   chroot.sh [KIND...]     without KIND: all but short
#   bare    root on a system with nothing: ./dev golden, ./dev test
#   blas    the same beside gfortran and the reference BLAS and LAPACK
#   user    one who is not root and has no sudo: packages are named (exit 2); with exactly those, golden, test
#   sudo    one who has sudo, beside a compiler and the reference BLAS: golden, test
#   full    one who finds everything installed, every BLAS among it: golden, test
#   short   `user` without the tests (continuous integration)
set -u
cd "$(dirname "$0")/../.." || exit 2

. test/dev/systems.sh
count=0 bad=0

report() { # STATUS NAME LOG
    count=$((count + 1))
    if [ "$1" = 0 ]; then echo "ok $count - $2 (${SECONDS} s)"; else
        bad=1
        echo "not ok $count - $2"
        tail -n 60 "$3" | sed 's/^/# /'
    fi
    SECONDS=0
}

# ---- systems ----

make_system() { # ROOT OWNER: a bare system with a copy of the source
    cp -a "$work/base" "$1"
    mkdir "$1$home/assay"
    { git ls-files -co --exclude-standard -z 2>/dev/null || find . -path './build*' -prune -o -type f -print0; } |
        tar --null --ignore-failed-read -T - -c 2>/dev/null | tar -x -C "$1$home/assay"
    within "$1" root chown -R "$2:" $home/assay
}

# ---- what is tried ----

dev() { # ROOT USER VERB...: exit status 0; test closes with no failure
    local root=$1 who=$2
    shift 2
    within "$root" "$who" ./dev "$@" >"$log" 2>&1
    report $? "$kind, $who: ./dev $*" "$log"
    [ "$1" != test ] || tail -n 1 "$log" | sed 's/^/# /'
}

named() { # ROOT VERB: exit status 2 and one line that names packages; exactly those are installed
    local root=$1 status
    within "$root" "$user" ./dev "$2" >"$log" 2>&1
    status=$?
    [ $status = 2 ] && [ "$(wc -l <"$log")" = 1 ] && grep -q '^dev: .*apt-get install [a-z]' "$log"
    report $? "$kind: ./dev $2 names what is missing, exit status $status" "$log"
    # shellcheck disable=SC2046
    apt_install "$root" $(sed -n 's/.*apt-get install //p' "$log")
    report $? "$kind: those packages are there" "$log"
}

both() { # ROOT USER
    dev "$@" golden
    dev "$@" test
}

try() { # KIND
    local root=$work/$kind
    log=$work/$kind.log
    case $kind in
    bare) make_system "$root" root; both "$root" root ;;
    blas)
        make_system "$root" root
        apt_install "$root" gfortran liblapack-dev libblas-dev
        both "$root" root
        ;;
    user | short)
        make_system "$root" $user
        named "$root" golden
        dev "$root" $user golden
        if [ "$kind" = user ]; then
            named "$root" test
            dev "$root" $user test
        fi
        ;;
    sudo)
        make_system "$root" $user
        apt_install "$root" sudo build-essential pkg-config libblas-dev
        echo "$user ALL=(ALL) NOPASSWD: ALL" >"$root/etc/sudoers.d/$user"
        both "$root" $user
        ;;
    full)
        make_system "$root" $user
        # shellcheck disable=SC2046
        apt_install "$root" build-essential gfortran clang cmake meson pkg-config liblapack-dev libblas-dev libatlas-base-dev libblis-dev \
            libopenblas-dev libopenblas-openmp-dev protobuf-c-compiler libprotobuf-c-dev libpng-dev libxxhash-dev libjansson-dev \
            libyaml-dev libcmocka-dev python3-numpy python3-pytest python3-pip python3-wheel python3-build libonnx-testdata git
        both "$root" $user
        ;;
    *) echo "chroot: no '$kind'; there are bare, blas, user, sudo, full, short" >&2; exit 2 ;;
    esac
    rm -rf --one-file-system "$root"
}

[ "$(id -u)" = 0 ] || skip_all "chroots need root"
command -v debootstrap >/dev/null || skip_all "debootstrap is not installed"
work=$(mktemp -d "${ASSAY_CHROOTS:-/var/tmp}/assay-chroot.XXXXXX") || exit 2
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 2' INT TERM
[ $# -gt 0 ] || set -- bare blas user sudo full
make_base "$work/base"
for kind; do
    SECONDS=0
    try
done
echo "1..$count"
exit $bad
