#!/usr/bin/env bash
# Debian packages of an installed build: libassay0, libassay-dev, assay and python3-assay, by dpkg-deb alone.
# Called by ./dev package.
#
#   package.sh BUILD OUT      BUILD: a build with --prefix=/usr and a multiarch libdir
#
# The maintainer is DEBFULLNAME and DEBEMAIL, or who made the last commit; the same commit gives the same bytes.
set -euo pipefail
build=$(realpath "$1") out=$2
source=$(realpath "$(dirname "$0")/../..")
mkdir -p "$out"
out=$(realpath "$out")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
umask 022

upstream=$(sed -n "s/^ *version: '\([0-9.]*\)'.*/\1/p" "$source/meson.build" | head -n 1)
version=$upstream-1
architecture=$(dpkg --print-architecture)
committed() { git -C "$source" log -1 --format="$1" 2>/dev/null || true; }
maintainer="${DEBFULLNAME:-$(committed %an)} <${DEBEMAIL:-$(committed %ae)}>"
[ "$maintainer" != " <>" ] || { echo "package: no maintainer: set DEBFULLNAME and DEBEMAIL" >&2; exit 2; }
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(committed %ct)}
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-0}

DESTDIR=$work/stage meson install -C "$build" --no-rebuild >"$work/install.log" || { cat "$work/install.log" >&2; exit 2; }
lib=$(dirname "$(cd "$work/stage" && find usr/lib -name 'libassay.so.0')")

# ---- what goes where ----

take() { # PACKAGE PATH...: moved out of the installed tree
    local package=$1 path
    shift
    for path; do
        mkdir -p "$work/$package/$(dirname "$path")"
        mv "$work/stage/$path" "$work/$package/$path"
    done
}
python_package() { # the modules, and what pip and pytest read
    local to=$work/python3-assay/usr/lib/python3/dist-packages
    local info=$to/assay-$upstream.dist-info
    mkdir -p "$to/assay" "$info"
    cp "$source"/interp/python/assay/*.py "$source/interp/python/assay/py.typed" "$to/assay/"
    cp "$source/interp/python/assay_pytest.py" "$to/"
    printf 'dpkg\n' >"$info/INSTALLER"
    python3 - "$source/interp/python/pyproject.toml" "$info" <<'PY'
import sys
import tomllib

with open(sys.argv[1], "rb") as f:
    project = tomllib.load(f)["project"]
with open(sys.argv[2] + "/METADATA", "w", encoding="utf-8") as f:
    f.write(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\nSummary: {project['description']}\n"
            f"License: {project['license']['text']}\nRequires-Python: {project['requires-python']}\n")
    f.writelines(f"Requires-Dist: {d}\n" for d in project["dependencies"])
with open(sys.argv[2] + "/entry_points.txt", "w", encoding="utf-8") as f:
    for group, names in project["entry-points"].items():
        f.write(f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in names.items()))
PY
}
(cd "$work/stage" && ls -d "$lib"/libassay.so.0*) >"$work/names"
mapfile -t names <"$work/names"
take libassay0 "${names[@]}"
take libassay-dev usr/include/assay "$lib/libassay.so" "$lib/libassay.a" "$lib/pkgconfig" "$lib/cmake"
take assay usr/bin/assay usr/share/man usr/share/bash-completion usr/share/zsh
mv "$work/assay/usr/share/zsh/site-functions" "$work/assay/usr/share/zsh/vendor-completions" # Debian's zsh reads those
python_package
left=$(cd "$work/stage" && find . -type f -o -type l)
[ -z "$left" ] || { echo "package: installed, but in no package: $left" >&2; exit 2; }

# ---- control files ----

shared_libraries() { # FILE: the packages of the libraries that it needs, with versions
    mkdir -p "$work/deps/debian"
    printf 'Source: assay\n\nPackage: assay\nArchitecture: any\n' >"$work/deps/debian/control"
    (cd "$work/deps" && dpkg-shlibdeps --ignore-missing-info -O "$1" 2>/dev/null) | sed -n 's/^shlibs:Depends=//p'
}
documents() { # PACKAGE
    local doc=$work/$1/usr/share/doc/$1
    mkdir -p "$doc"
    cat >"$doc/copyright" <<COPYRIGHT
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Assay

Files: *
Copyright: $(date -u -d "@$SOURCE_DATE_EPOCH" +%Y) the authors of Assay
License: Apache-2.0

License: Apache-2.0
 On Debian systems, the complete text of the Apache License, version 2.0, is in
 /usr/share/common-licenses/Apache-2.0.
COPYRIGHT
    cat >"$work/changelog" <<CHANGELOG
assay ($version) unstable; urgency=medium

  * Built by ./dev package from ${commit:-a source without history}.

 -- $maintainer  $(date -u -R -d "@$SOURCE_DATE_EPOCH")
CHANGELOG
    gzip -9nc "$work/changelog" >"$doc/changelog.Debian.gz"
}
commit=$(committed 'commit %h')

pack() { # PACKAGE SECTION ARCHITECTURE SUMMARY < control fields, an empty line, the description
    local package=$1 root=$work/$1 section=$2 kind=$3 summary=$4 fields line
    documents "$package"
    fields=$(sed '/^$/,$d' <"$work/about")
    mkdir -p "$root/DEBIAN"
    (cd "$root" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
    {
        printf 'Package: %s\nSource: assay\nVersion: %s\nArchitecture: %s\nMaintainer: %s\n' "$package" "$version" "$kind" "$maintainer"
        printf 'Installed-Size: %s\n' "$(du -k -s --apparent-size "$root/usr" | cut -f1)"
        printf '%s\n' "$fields"
        printf 'Section: %s\nPriority: optional\nDescription: %s\n' "$section" "$summary"
        sed '1,/^$/d;s/^/ /' "$work/about"
    } >"$root/DEBIAN/control"
    find "$root" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
    dpkg-deb --root-owner-group -Zxz --build "$root" "$out/${package}_${version}_$kind.deb" >/dev/null
    echo "$out/${package}_${version}_$kind.deb"
}
about() { cat >"$work/about"; }
what="Assay is given a network and a scheme, a description of a device's arithmetic,
and computes in integers the bits that the device must produce: every tensor of
every layer, hashed and dumped for a testbench. Where the device disagrees, it
says where first."

find "$work/assay/usr/share/man" -type f -exec gzip -9n {} +
find "$work" -path '*/usr/*' -type f ! -name assay -exec chmod 644 {} +
rm -f "$out"/*.deb

mkdir -p "$work/libassay0/DEBIAN" "$work/python3-assay/DEBIAN"
printf 'libassay 0 libassay0 (>= %s)\n' "$upstream" >"$work/libassay0/DEBIAN/shlibs"
printf 'activate-noawait ldconfig\n' >"$work/libassay0/DEBIAN/triggers"
about <<END
Multi-Arch: same
Depends: $(shared_libraries "$work/libassay0/$lib/libassay.so.0")

$what
.
This package holds the shared library.
END
pack libassay0 libs "$architecture" "reference interpreter for quantized networks (library)"
about <<END
Depends: libassay0 (= $version)
Suggests: libpng-dev, libxxhash-dev, libjansson-dev, libyaml-dev, libprotobuf-c-dev

$what
.
This package holds the headers, the archive for static linking, which asks for
the packages suggested, and files for pkg-config and CMake.
END
pack libassay-dev libdevel "$architecture" "reference interpreter for quantized networks (development)"
about <<END
Depends: $(shared_libraries "$work/assay/usr/bin/assay")

$what
.
This package holds the command, its manual and completion for bash and zsh.
END
pack assay science "$architecture" "reference interpreter for quantized neural networks"

for script in 'postinst configure py3compile' 'prerm remove|upgrade py3clean'; do
    read -r name on program <<<"$script"
    cat >"$work/python3-assay/DEBIAN/$name" <<SCRIPT
#!/bin/sh
set -e
case "\$1" in
    $on)
        if command -v $program >/dev/null; then $program -p python3-assay; fi
        ;;
esac
SCRIPT
    chmod 755 "$work/python3-assay/DEBIAN/$name"
done
about <<END
Depends: python3 (>= 3.11), python3-numpy, libassay0 (>= $upstream)
Suggests: python3-pytest

$what
.
This package holds the Python module, which calls the library by ctypes, and a
plugin for pytest.
END
pack python3-assay python all "reference interpreter for quantized networks (Python)"
