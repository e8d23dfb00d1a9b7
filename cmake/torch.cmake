# LibTorch out of the torch wheel: that of .venv, or of the Python that is found.
if(EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  set(torch_python ${PROJECT_SOURCE_DIR}/.venv/bin/python)
else()
  find_package(Python3 COMPONENTS Interpreter)
  set(torch_python ${Python3_EXECUTABLE})
endif()
set(find_torch
  "import importlib.util as u, os; s = u.find_spec('torch'); print(os.path.dirname(s.origin) if s else '')")
execute_process(COMMAND ${torch_python} -c "${find_torch}"
  OUTPUT_VARIABLE torch_root OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(torch_root)
  # The wheel names a library that it does not carry.
  set(kineto_LIBRARY "${torch_root}/lib/libc10.so" CACHE FILEPATH "not in the wheel" FORCE)
  find_package(Torch CONFIG PATHS "${torch_root}/share/cmake/Torch" NO_DEFAULT_PATH)
  if(TARGET caffe2::mkl)
    set_property(TARGET caffe2::mkl PROPERTY INTERFACE_LINK_DIRECTORIES "")
  endif()
endif()
