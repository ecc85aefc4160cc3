# Finds out the version of a source tree. Run by cmake -P: at each build (version.cmake), and by scripts/release.sh.
#
#   SOURCE            the tree
#   PROJECT_VERSION   what CMakeLists.txt says, for want of anything better
#   VERSION REVISION  known already, as far as not empty
#   INTO              the file to make of src/config/version.cpp.in, touched only if it changes; without it both are
#                     printed as the line that a source archive has in its file VERSION
#
# Versions sort by Debian's rules as the commits do:
#   0.1.0~433.g0123456789ab   the 433rd commit, before there is any tag
#   0.1.0                     the tag v0.1.0
#   0.1.0+12.g0123456789ab    twelve commits after it; with .dirty if files differ from the commit

function(ask_git into)
  set(ENV{GIT_OPTIONAL_LOCKS} 0)  # a build writes nothing into the repository
  execute_process(COMMAND git -C ${SOURCE} ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE answer ERROR_QUIET
                  OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    set(answer "")
  endif()
  set(${into} "${answer}" PARENT_SCOPE)
endfunction()

set(found_version "")
set(found_revision "")
if(EXISTS ${SOURCE}/VERSION)
  # A source archive. It may lie within somebody else's repository.
  file(STRINGS ${SOURCE}/VERSION line LIMIT_COUNT 1)
  string(REGEX MATCH "^([^ ]+) ?([0-9a-f]*)$" matched "${line}")
  set(found_version "${CMAKE_MATCH_1}")
  set(found_revision "${CMAKE_MATCH_2}")
elseif(EXISTS ${SOURCE}/.git)
  ask_git(found_revision rev-parse HEAD)
endif()
if(found_version STREQUAL "" AND NOT found_revision STREQUAL "")
  ask_git(changes status --porcelain --untracked-files=no)
  # The length of the hash is said, for git's own depends on what else is in the repository.
  ask_git(described describe --tags --long --match v[0-9]* --abbrev=12)
  if(described MATCHES "^v(.+)-([0-9]+)-(g[0-9a-f]+)$")
    set(found_version ${CMAKE_MATCH_1})
    if(NOT CMAKE_MATCH_2 EQUAL 0 OR NOT changes STREQUAL "")
      string(APPEND found_version "+${CMAKE_MATCH_2}.${CMAKE_MATCH_3}")
    endif()
  else()
    ask_git(count rev-list --count HEAD)
    string(SUBSTRING ${found_revision} 0 12 commit)
    set(found_version "${PROJECT_VERSION}~${count}.g${commit}")
  endif()
  if(NOT changes STREQUAL "")
    string(APPEND found_version ".dirty")
  endif()
endif()

set(version "${VERSION}")
if(version STREQUAL "")
  set(version "${found_version}")
endif()
if(version STREQUAL "")
  set(version "${PROJECT_VERSION}")
endif()
set(revision "${REVISION}")
if(revision STREQUAL "")
  set(revision "${found_revision}")
endif()
# Both become texts of C++, labels of metrics and parts of HTTP headers.
if(NOT "${version}" MATCHES "^[0-9A-Za-z][0-9A-Za-z.+~-]*$" OR NOT "${revision}" MATCHES "^[0-9A-Za-z.+~-]*$")
  message(FATAL_ERROR "no version and revision: \"${version}\", \"${revision}\"")
endif()

if(DEFINED INTO)
  configure_file(${SOURCE}/src/config/version.cpp.in ${INTO} @ONLY)
else()
  execute_process(COMMAND ${CMAKE_COMMAND} -E echo "${version} ${revision}")
endif()
