/* BCOS_API marks what the shared library offers. Everything else stays hidden in it, and so does
 * what BCOS_HIDDEN marks inside a class that is offered. */
#ifndef BCOS_EXPORT_H
#define BCOS_EXPORT_H

#define BCOS_API __attribute__((visibility("default")))
#define BCOS_HIDDEN __attribute__((visibility("hidden")))

#endif
