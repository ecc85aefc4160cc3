# cmake --install: what a packager wants to have, below CMAKE_INSTALL_PREFIX and the folders of GNUInstallDirs.
#
#   component runtime   the binary, its man pages and completions, its service, a configuration unless there is one, the licence
#   component doc       documents, examples of configurations around the gate, dashboard and alerts
include(GNUInstallDirs)
set(SERIESGATE_UNIT_DIR lib/systemd/system CACHE STRING "Where units of systemd go; empty: nowhere")

install(TARGETS seriesgate RUNTIME COMPONENT runtime)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)

# The units have Debian's paths in them: ours take their place.
file(GLOB units CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/deploy/systemd/*.service ${CMAKE_SOURCE_DIR}/deploy/systemd/*.socket)
if(SERIESGATE_UNIT_DIR)
  foreach(unit ${units})
    cmake_path(GET unit FILENAME name)
    file(READ ${unit} text)
    string(REPLACE "/usr/bin/" "${CMAKE_INSTALL_FULL_BINDIR}/" text "${text}")
    string(REPLACE "/etc/seriesgate/" "${CMAKE_INSTALL_FULL_SYSCONFDIR}/seriesgate/" text "${text}")
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/systemd/${name} CONTENT "${text}" @ONLY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${unit})
    install(FILES ${CMAKE_BINARY_DIR}/systemd/${name} DESTINATION ${SERIESGATE_UNIT_DIR} COMPONENT runtime)
  endforeach()
endif()

# Man pages and completions say what the binary says of itself, so it has to run here. Those who build the target seriesgate
# alone install none.
find_package(Python3 QUIET COMPONENTS Interpreter)
if(Python3_FOUND AND NOT CMAKE_CROSSCOMPILING)
  set(generated ${CMAKE_BINARY_DIR}/generated)
  set(manuals ${generated}/man/seriesgate.1 ${generated}/man/seriesgate.yaml.5 ${generated}/bash/seriesgate
              ${generated}/zsh/_seriesgate ${generated}/fish/seriesgate.fish)
  file(GLOB generators CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/packaging/*.py)
  add_custom_command(OUTPUT ${manuals}
    COMMAND ${Python3_EXECUTABLE} -B ${CMAKE_SOURCE_DIR}/packaging/generate.py $<TARGET_FILE:seriesgate> ${generated}
    DEPENDS seriesgate ${generators} ${CMAKE_SOURCE_DIR}/docs/configuration.md ${CMAKE_SOURCE_DIR}/docs/operation.md
    COMMENT "Writing man pages and completions"
    VERBATIM)
  add_custom_target(seriesgate_manuals ALL DEPENDS ${manuals})
  set(where COMPONENT runtime OPTIONAL)
  install(FILES ${generated}/man/seriesgate.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 ${where})
  install(FILES ${generated}/man/seriesgate.yaml.5 DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 ${where})
  install(FILES ${generated}/bash/seriesgate DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions ${where})
  install(FILES ${generated}/zsh/_seriesgate DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions ${where})
  install(FILES ${generated}/fish/seriesgate.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d ${where})
endif()

# That of the package, which keeps its state where the unit lets it. Somebody's own is not written over.
file(READ ${CMAKE_SOURCE_DIR}/debian/seriesgate.yaml text)
string(REPLACE "/usr/share/doc/seriesgate/examples/" "${CMAKE_INSTALL_FULL_DOCDIR}/examples/config/" text "${text}")
string(REPLACE "/usr/share/doc/seriesgate/" "${CMAKE_INSTALL_FULL_DOCDIR}/" text "${text}")
string(REPLACE "/etc/seriesgate/" "${CMAKE_INSTALL_FULL_SYSCONFDIR}/seriesgate/" text "${text}")
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/installed/seriesgate.yaml CONTENT "${text}" @ONLY)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/debian/seriesgate.yaml)
install(CODE "
  set(folder \"${CMAKE_INSTALL_FULL_SYSCONFDIR}/seriesgate\")
  if(NOT EXISTS \"\$ENV{DESTDIR}\${folder}/seriesgate.yaml\")
    file(INSTALL \"${CMAKE_BINARY_DIR}/installed/seriesgate.yaml\" DESTINATION \"\${folder}\")
  endif()" COMPONENT runtime)

install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT doc)
install(DIRECTORY config deploy monitoring DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples COMPONENT doc
        PATTERN systemd EXCLUDE)
