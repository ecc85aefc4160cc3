# The script that a fleet's store runs becomes a text in the room that sends it.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/fleet/claim.lua)
file(READ ${CMAKE_SOURCE_DIR}/src/fleet/claim.lua CLAIM_SCRIPT)
string(SHA1 CLAIM_SCRIPT_DIGEST "${CLAIM_SCRIPT}")
configure_file(${CMAKE_SOURCE_DIR}/src/fleet/claim_script.cpp.in ${CMAKE_BINARY_DIR}/fleet/claim_script.cpp @ONLY)
target_sources(seriesgate_fleet PRIVATE ${CMAKE_BINARY_DIR}/fleet/claim_script.cpp)
