# The version of the C interface, which only grows: it does not follow that of the project.
set(BCOS_C_INTERFACE 0)

# offer_interfaces(TARGET VERSION): the shared library TARGET offers the C interface and the C++
# interface of VERSION, each under a name of its own, and nothing else. It stays in memory once it is
# loaded: the threads of its pool run its code until the process ends.
function(offer_interfaces target version)
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" BCOS_CXX_INTERFACE ${version})
  set(map ${CMAKE_CURRENT_BINARY_DIR}/${target}.map)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/libbcos.map.in ${map} @ONLY)
  target_link_options(${target} PRIVATE LINKER:--version-script=${map} LINKER:-z,nodelete)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${map} LINKER_LANGUAGE CXX)
endfunction()
