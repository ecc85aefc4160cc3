# The scripts that a fleet's store runs become texts in the room that sends them.
set(FLEET_SCRIPTS ${CMAKE_SOURCE_DIR}/src/fleet)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${FLEET_SCRIPTS}/claim.lua ${FLEET_SCRIPTS}/telling.lua)
file(READ ${FLEET_SCRIPTS}/claim.lua CLAIM_SCRIPT)
string(SHA1 CLAIM_SCRIPT_DIGEST "${CLAIM_SCRIPT}")
file(READ ${FLEET_SCRIPTS}/telling.lua TELLING_SCRIPT)
configure_file(${FLEET_SCRIPTS}/claim_script.cpp.in ${CMAKE_BINARY_DIR}/fleet/claim_script.cpp @ONLY)
target_sources(seriesgate_fleet PRIVATE ${CMAKE_BINARY_DIR}/fleet/claim_script.cpp)
