#ifndef KESTREL_TRAMPOLINES_H
#define KESTREL_TRAMPOLINES_H

// kestrel_load_cuda fills the table from libcuda at path, and kestrel_init
// calls its cuInit. kestrel_load_nvrtc does the same for libnvrtc. They return
// 0, or dlerror's words, which hold until the next call. The caller sees to it
// that nothing else of this package runs meanwhile.
const char *kestrel_load_cuda(const char *path);
int kestrel_init(void);
const char *kestrel_load_nvrtc(const char *path);

// kestrel_open makes the symbols of a library known that another wants to find.
void kestrel_open(const char *path);

#endif
