# Compiles for arm64 on another machine, with Debian's cross compiler and the arm64 packages of the libraries beside the
# machine's own: cmake --preset release -DCMAKE_TOOLCHAIN_FILE=cmake/toolchain-aarch64.cmake. scripts/cross-arm64.sh makes
# a root that has all of it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
# Test programs run: by an emulator, if there is one.
find_program(SERIESGATE_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(SERIESGATE_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${SERIESGATE_QEMU})
endif()
