# The scripts that a fleet's store runs become texts in the room that sends them.
foreach(name claim telling recover feed shares)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/fleet/${name}.lua)
  file(READ ${CMAKE_SOURCE_DIR}/src/fleet/${name}.lua SCRIPT)
  set(SCRIPT_NAME ${name})
  configure_file(${CMAKE_SOURCE_DIR}/src/fleet/script.cpp.in ${CMAKE_BINARY_DIR}/fleet/${name}_script.cpp @ONLY)
  target_sources(seriesgate_fleet PRIVATE ${CMAKE_BINARY_DIR}/fleet/${name}_script.cpp)
endforeach()
