/* The version of bcos, its one home: CMake reads it from here. */
#ifndef BCOS_VERSION_H
#define BCOS_VERSION_H

#define BCOS_VERSION_MAJOR 0
#define BCOS_VERSION_MINOR 1
#define BCOS_VERSION_PATCH 0
#define BCOS_VERSION_STRING "0.1.0"

#endif
