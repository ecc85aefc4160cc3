# Whether tests and benchmarks are built: SERIESGATE_TESTS and SERIESGATE_BENCHES are ON, OFF, or AUTO, which is ON where
# their packages are. ON with a package missing is an error.
set(SERIESGATE_TESTS AUTO CACHE STRING "Build the tests (Catch2, Protocol Buffers): ON, OFF, AUTO")
set(SERIESGATE_BENCHES AUTO CACHE STRING "Build the benchmarks (Google Benchmark): ON, OFF, AUTO, OFF without tests")
set_property(CACHE SERIESGATE_TESTS SERIESGATE_BENCHES PROPERTY STRINGS ON OFF AUTO)

# Turns AUTO into ON or OFF; what is missing is said in one line. A macro, for what packages define is meant for the caller.
macro(seriesgate_settle option)
  if("${${option}}" STREQUAL "AUTO")
    set(${option} ON)
    foreach(package ${ARGN})
      find_package(${package} QUIET)
      if(NOT ${package}_FOUND OR ("${package}" STREQUAL "Protobuf" AND NOT Protobuf_PROTOC_EXECUTABLE))
        set(${option} OFF)
        message(STATUS "${option}: OFF, there is no ${package} (scripts/install-deps.sh --unit-tests installs it)")
      endif()
    endforeach()
  endif()
endmacro()

seriesgate_settle(SERIESGATE_TESTS Catch2 Protobuf)
if(NOT SERIESGATE_TESTS)
  set(SERIESGATE_BENCHES OFF)
endif()
seriesgate_settle(SERIESGATE_BENCHES benchmark)
