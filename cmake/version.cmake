# Which version a build says that it is. Asked at each build, not when CMake runs, for a commit or a tag runs no CMake; one
# file is compiled anew when the answer changes.
set(SERIESGATE_VERSION "" CACHE STRING "The version, if the source cannot tell, or not rightly: a packager's")
set(SERIESGATE_REVISION "" CACHE STRING "The commit, if the source cannot tell")

add_custom_target(seriesgate_source_version
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DINTO=${CMAKE_BINARY_DIR}/config/version.cpp
          -DPROJECT_VERSION=${PROJECT_VERSION} -DVERSION=${SERIESGATE_VERSION} -DREVISION=${SERIESGATE_REVISION}
          -P ${CMAKE_SOURCE_DIR}/cmake/source_version.cmake
  BYPRODUCTS ${CMAKE_BINARY_DIR}/config/version.cpp
  COMMENT "Asking the source for its version"
  VERBATIM)
add_dependencies(seriesgate_config seriesgate_source_version)
target_sources(seriesgate_config PRIVATE ${CMAKE_BINARY_DIR}/config/version.cpp)
# A commit recompiles this file, and in no batch.
set_source_files_properties(${CMAKE_BINARY_DIR}/config/version.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
