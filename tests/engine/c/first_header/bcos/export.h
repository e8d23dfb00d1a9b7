/* BCOS_API marks what the shared library offers; everything else stays hidden in it. */
#ifndef BCOS_EXPORT_H
#define BCOS_EXPORT_H

#define BCOS_API __attribute__((visibility("default")))

#endif
