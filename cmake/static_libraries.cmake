# SERIESGATE_STATIC: a binary that needs nothing of a system but its C library, of the same age or younger. The C library
# itself stays shared: with a static one, names are resolved by plugins that have to be of the very same version, and Debian
# links nothing against it. Its packages have a static library of everything else but fmt, which is compiled in.
#
# Included before the libraries are looked for; seriesgate_link_statically is called afterwards.
option(SERIESGATE_STATIC "Link all libraries but libc statically" OFF)

if(SERIESGATE_STATIC)
  set(Boost_USE_STATIC_LIBS ON)
  set(OPENSSL_USE_STATIC_LIBS ON)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)  # for find_library, and so for pkg_check_modules
endif()

# What packages describe by CMake files of their own, which name the shared library.
function(seriesgate_link_statically)
  foreach(target Snappy::snappy yaml-cpp yaml-cpp::yaml-cpp)
    if(TARGET ${target})
      get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
      foreach(configuration ${configurations})
        get_target_property(library ${target} IMPORTED_LOCATION_${configuration})
        if(library)
          string(REGEX REPLACE "\\.so[0-9.]*$" ".a" archive ${library})
          if(NOT EXISTS ${archive})
            message(FATAL_ERROR "SERIESGATE_STATIC: there is no ${archive}")
          endif()
          set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} ${archive})
        endif()
      endforeach()
    endif()
  endforeach()
  # The shared fmt is still said to the linker, which leaves out what nothing needs.
  set_target_properties(fmt::fmt PROPERTIES INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)
endfunction()
