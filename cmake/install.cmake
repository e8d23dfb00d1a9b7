# What `cmake --install` puts in place: the library, its headers, the command, and the files by
# which find_package(bcos) and pkg-config find them.
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
  COMPATIBILITY SameMajorVersion)
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
configure_file(${CMAKE_CURRENT_LIST_DIR}/bcos.pc.in ${PROJECT_BINARY_DIR}/bcos.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/bcos.pc DESTINATION ${pkgconfig_dir})
