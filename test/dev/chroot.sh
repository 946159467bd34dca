#!/usr/bin/env bash
# The first commands on fresh machines: Debian 12 in chroots made with debootstrap, from the mirror that this
# machine's apt uses. Called by ./dev chroot. TAP; needs root, network access, and minutes.
#
#   chroot.sh [KIND...]     without KIND: all but short
#   bare    root on a system with nothing: ./dev golden, ./dev test
#   blas    the same beside gfortran and the reference BLAS and LAPACK
#   user    one who is not root and has no sudo: packages are named (exit 2); with exactly those, golden, test
#   sudo    one who has sudo, beside a compiler and the reference CBLAS, which serves: golden, test
#   full    one who finds everything installed, every BLAS among it: golden, test
#   short   `user` without the tests (continuous integration)
set -u
cd "$(dirname "$0")/../.." || exit 2

count=0 bad=0
user=tester home=/home/tester

skip_all() { echo "1..0 # SKIP $1"; exit 0; }

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

apt_sources() { # this machine's lines for Debian 12
    apt-get indextargets --format "deb \$(REPO_URI) \$(CODENAME) \$(COMPONENT)" 'Identifier: Packages' 2>/dev/null |
        grep -E ' bookworm(-updates|-security)? ' | sort -u
}

make_base() { # DIR: the bare system
    local base=$1 mirror
    mirror=$(apt_sources | awk '$3 == "bookworm" { print $2; exit }')
    [ -n "$mirror" ] || skip_all "this machine's apt has no source for Debian 12 (bookworm)"
    debootstrap --variant=minbase bookworm "$base" "$mirror" >"$work/debootstrap.log" 2>&1 ||
        skip_all "debootstrap fails: $(tail -n 1 "$work/debootstrap.log")"
    apt_sources >"$base/etc/apt/sources.list"
    apt-config dump 2>/dev/null | grep -iE '^Acquire::[a-z:]*proxy' >"$base/etc/apt/apt.conf.d/90host"
    cp -L /etc/resolv.conf /etc/hosts "$base/etc/" 2>/dev/null
    [ ! -f /etc/ssl/certs/ca-certificates.crt ] || install -D -t "$base/etc/ssl/certs" -m 644 /etc/ssl/certs/ca-certificates.crt
    within "$base" root true >"$work/chroot.log" 2>&1 || skip_all "chroots cannot be used: $(tail -n 1 "$work/chroot.log")"
    within "$base" root useradd -m -s /bin/bash "$user" || skip_all "no user can be made"
}

within() { # ROOT USER COMMAND...: there, with the environment of a new login; its processes end with it
    local root=$1 who=$2 at=/
    shift 2
    [ ! -d "$root$home/assay" ] || at=$home/assay
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child sh -c '
        root=$1 who=$2; shift 2
        mount --make-rprivate / && mount -t proc proc "$root/proc" && exec chroot --userspec="$who" "$root" "$@"' \
        sh "$root" "$who" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        HOME="$([ "$who" = root ] && echo /root || echo $home)" LANG=C.UTF-8 TERM=dumb \
        ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
        sh -c 'cd "$1" && shift && exec "$@"' sh "$at" "$@" </dev/null
}

make_system() { # ROOT OWNER: a bare system with a copy of the source
    cp -a "$work/base" "$1"
    mkdir "$1$home/assay"
    { git ls-files -co --exclude-standard -z 2>/dev/null || find . -path './build*' -prune -o -type f -print0; } |
        tar --null --ignore-failed-read -T - -c 2>/dev/null | tar -x -C "$1$home/assay"
    within "$1" root chown -R "$2:" $home/assay
}

apt_install() { # ROOT PACKAGE...
    local root=$1
    shift
    within "$root" root sh -c 'apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"' sh "$@" >>"$log" 2>&1
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
        ! within "$root" root dpkg-query -W libopenblas-dev >"$log" 2>&1
        report $? "sudo: the CBLAS that was there serves" "$log"
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
