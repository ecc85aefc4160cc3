# What everything is compiled and linked with, tests and generated code too: what makes builds alike wherever they are made, and
# what makes an intruder's life harder.
include(CheckCXXCompilerFlag)
option(SERIESGATE_HARDENING "Stack protector, checked libc calls, control-flow protection, PIE, read-only relocations" ON)

# Of what neither says how it is optimised: a binary that nobody would want to run is no useful default.
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, Release, RelWithDebInfo or None (what CXXFLAGS says)" FORCE)
endif()

# The same source gives the same bytes in any folder: no path of this tree in debug information, __FILE__ or assertions, and
# those of the tree as seen from its top. ccache compiles with paths as seen from the build folder, hence the third;
# it knows these options, and shares what was compiled in another folder. The last that matches counts.
file(RELATIVE_PATH up ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR})
foreach(top ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR} ${up})
  string(REGEX REPLACE "/$" "" top ${top})
  add_compile_options(-ffile-prefix-map=${top}=. -ffile-prefix-map=${top}/=)
endforeach()
add_link_options(-Wl,--build-id=sha1)

if(SERIESGATE_HARDENING AND NOT SERIESGATE_SANITIZE)
  set(flags -fPIE)  # not -fPIC: nothing here is linked into a shared library
  set(link_flags -pie -Wl,-z,relro -Wl,-z,now)
  # What some compiler or processor lacks: control-flow protection is one option on x86 and another on arm64. Clang merely
  # warns of that of another processor.
  set(CMAKE_REQUIRED_FLAGS -Werror)
  foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection -mbranch-protection=standard)
    string(MAKE_C_IDENTIFIER "SERIESGATE_HAS${flag}" known)
    check_cxx_compiler_flag(${flag} ${known})
    if(${known})
      list(APPEND flags ${flag})
    endif()
  endforeach()
  unset(CMAKE_REQUIRED_FLAGS)
  # It needs optimisation, and is a macro: the C library warns without the one and the compiler of a second definition.
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT CMAKE_CXX_FLAGS MATCHES "_FORTIFY_SOURCE"
     AND (NOT CMAKE_BUILD_TYPE STREQUAL "None" OR CMAKE_CXX_FLAGS MATCHES "-O[1-3sgz]"))
    list(APPEND flags -D_FORTIFY_SOURCE=3)
  endif()
  # Before what the user says, so that -fcf-protection=none is possible.
  list(JOIN flags " " flags)
  list(JOIN link_flags " " link_flags)
  set(CMAKE_CXX_FLAGS "${flags} ${CMAKE_CXX_FLAGS}")
  set(CMAKE_EXE_LINKER_FLAGS "${link_flags} ${CMAKE_EXE_LINKER_FLAGS}")
endif()
