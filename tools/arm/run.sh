#!/bin/sh
# Compile the kernels for 64-bit ARM and compare them with their specification on an emulated CPU.
#
#     tools/arm/run.sh FOLDER PYTHON [WHEEL]
#
# With a wheel (tools/portable_wheels.py) nothing is compiled: the kernels are those of the wheel.
# FOLDER keeps what was fetched: Debian's Python and C library for arm64 (unpacked, not installed)
# and the wheels of numpy, scipy and scikit-learn. PYTHON has pip and pybind11. Needed from Debian:
# g++-aarch64-linux-gnu and qemu-user.
set -eu
folder=$1
python=$2
wheel=${3:-}
here=$(cd "$(dirname "$0")/../.." && pwd)
compiler=aarch64-linux-gnu-g++
[ -z "$wheel" ] || compiler=
for program in $compiler qemu-aarch64; do
  command -v $program >/dev/null || {
    echo "No $program. Type: apt-get install g++-aarch64-linux-gnu qemu-user"
    exit 1
  }
done
mkdir -p "$folder/debs" "$folder/lists/partial" "$folder/cache/archives/partial" "$folder/root"
folder=$(cd "$folder" && pwd)

if [ ! -e "$folder/.fetched" ]; then
  # Lists of packages of its own, so that the machine does not learn a second architecture.
  touch "$folder/status"
  cat >"$folder/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State::Lists "$folder/lists";
Dir::State::status "$folder/status";
Dir::Cache "$folder/cache";
END
  export APT_CONFIG="$folder/apt.conf"
  apt-get update -qq
  version=$(apt-cache show python3-minimal | grep -o 'python3\.[0-9]*-minimal' | head -1)
  version=${version#python}
  version=${version%-minimal}
  (cd "$folder/debs" && apt-get download -qq "python$version-minimal" "libpython$version-minimal" \
    "libpython$version-stdlib" "libpython$version-dev" libc6 libgcc-s1 libstdc++6 libexpat1 zlib1g \
    libffi8 libbz2-1.0 liblzma5 libssl3 libuuid1 libgomp1 libcrypt1)
  for package in "$folder"/debs/*.deb; do dpkg -x "$package" "$folder/root"; done
  "$python" -m pip install -qq --disable-pip-version-check --only-binary=:all: --no-compile \
    --target "$folder/site" --python-version "$version" --implementation cp \
    --platform manylinux_2_28_aarch64 --platform manylinux_2_27_aarch64 \
    --platform manylinux_2_17_aarch64 --platform manylinux2014_aarch64 scikit-learn
  echo "$version" >"$folder/.fetched"
fi
version=$(cat "$folder/.fetched")

rm -rf "$folder/package"
mkdir -p "$folder/package"
if [ -n "$wheel" ]; then
  "$python" -m zipfile -e "$wheel" "$folder/package"
else
  cp -r "$here/src/spheremix" "$folder/package"
  rm -f "$folder"/package/spheremix/_kernels*
  echo "Compiling for ARM"
  # The flags of setup.py.
  $compiler -std=c++17 -O3 -ffp-contract=off -fno-math-errno -fvisibility=hidden -pthread \
    -Wno-psabi -fPIC -shared -I"$folder/root/usr/include/python$version" -I"$folder/root/usr/include" \
    -I"$("$python" -c 'import pybind11; print(pybind11.get_include())')" "$here"/csrc/*.cpp \
    -o "$folder/package/spheremix/_kernels.so"
fi

for level in neon baseline; do
  qemu-aarch64 -L "$folder/root" -E PYTHONPATH="$folder/package:$folder/site" \
    -E OPENBLAS_NUM_THREADS=1 -E SPHEREMIX_SIMD=$level \
    "$folder/root/usr/bin/python$version" "$here/tools/check_kernels.py"
done
