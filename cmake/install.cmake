# What `cmake --install` puts in place: the library, its headers, the command, the files by which
# find_package(bcos) and pkg-config find them, and the pages. No path of this machine is in them.
include(CMakePackageConfigHelpers)

install(TARGETS bcos EXPORT bcosTargets)
if(TARGET bcos_command)
  install(TARGETS bcos_command)
endif()
if(TARGET bcos_torch_command)
  install(TARGETS bcos_torch_command)
endif()
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/bcos)
install(EXPORT bcosTargets NAMESPACE bcos:: DESTINATION ${package_dir})
if(TARGET bcos_torch)
  install(TARGETS bcos_torch EXPORT bcosTorchTargets)
  install(EXPORT bcosTorchTargets NAMESPACE bcos:: DESTINATION ${package_dir})
else()
  set(without_torch PATTERN libtorch.h EXCLUDE)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/bcos DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN *.h PATTERN *.hpp ${without_torch})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/bcosConfig.cmake.in
  ${PROJECT_BINARY_DIR}/bcosConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/bcosConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/bcosConfig.cmake ${PROJECT_BINARY_DIR}/bcosConfigVersion.cmake
  DESTINATION ${package_dir})

# The prefix is written relative to the .pc file, so that an installed tree can be moved and
# `cmake --install --prefix` can change it.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH pc_prefix /prefix/${pkgconfig_dir} /prefix)
  string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${pc_prefix}")
endif()
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_LIBDIR BASE_DIRECTORY "\${prefix}"
  OUTPUT_VARIABLE pc_libdir)
cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_INCLUDEDIR BASE_DIRECTORY "\${prefix}"
  OUTPUT_VARIABLE pc_includedir)
# Without the static library's own needs `pkg-config --libs` would be of no use; the shared one has none.
if(BCOS_LIBRARY_TYPE STREQUAL "STATIC")
  list(JOIN BCOS_CXX_RUNTIME " -l" pc_static)
  set(pc_static " -Wl,-z,nodelete -l${pc_static} -pthread")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/bcos.pc.in ${PROJECT_BINARY_DIR}/bcos.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bcos.pc DESTINATION ${pkgconfig_dir})

# The pages lie as they do here, so that their links hold. A project that has bcos as a part of it
# has pages of its own.
if(PROJECT_IS_TOP_LEVEL)
  install(FILES README.md CHANGELOG.md HACKING.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
  install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()
