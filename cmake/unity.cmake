# SERIESGATE_UNITY: sources of a target are compiled up to 16 at a time, as one file that includes them. The headers that they
# share (Asio, Beast, the standard library) are read once, and a build from nothing takes a third of the time. A change to
# one source compiles its whole batch, so the preset for daily work has it off. Both ways have to build: a source includes
# what it uses, and a name in an unnamed namespace is the only one of its folder.
option(SERIESGATE_UNITY "Compile sources in batches: faster from nothing, slower after a change" OFF)
set(SERIESGATE_SHADOW_WARNINGS -Wshadow)
if(SERIESGATE_UNITY)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
  # GCC inlines less where a unit grows large, and a batch is large: without this a sample takes a third more instructions.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(--param=large-unit-insns=200000)
  endif()
  # A local name hides nothing of another file, and a type of an included source is in no other object.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(SERIESGATE_SHADOW_WARNINGS -Wshadow=local -Wno-subobject-linkage)
  else()
    set(SERIESGATE_SHADOW_WARNINGS "")
  endif()
endif()
