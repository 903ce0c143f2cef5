//go:build cuda

// Every function of libcuda and libnvrtc that the program refers to is a jump
// through a pointer. The functions are hidden: a library that is opened later
// must not find ours before the real ones.

#include "trampolines.h"

#include <dlfcn.h>
#include <stddef.h>

#include "functions.h"

// CUDA_ERROR_NOT_INITIALIZED and CUDA_ERROR_NOT_FOUND. libnvrtc's codes end
// far below 500; there it only means failure.
__attribute__((used)) static int not_initialized(void) { return 3; }
static int not_found(void) { return 500; }

#if defined(__x86_64__)
#define JUMP(slot) "  jmp *" slot "(%rip)\n"
#elif defined(__aarch64__)
#define JUMP(slot)              \
  "  adrp x16, " slot "\n"      \
  "  ldr x16, [x16, :lo12:" slot "]\n" \
  "  br x16\n"
#else
#error "package driver knows amd64 and arm64 only"
#endif

#define TRAMPOLINE(name)                                                                    \
  __attribute__((used, visibility("hidden"))) void *kestrel_slot_##name = (void *)not_initialized; \
  __asm__(".pushsection .text\n"                                                            \
          ".globl " #name "\n"                                                              \
          ".hidden " #name "\n"                                                             \
          ".type " #name ", %function\n"                                                    \
          #name ":\n" JUMP("kestrel_slot_" #name)                                           \
          ".size " #name ", .-" #name "\n"                                                  \
          ".popsection\n");

CUDA_FUNCTIONS(TRAMPOLINE)
NVRTC_FUNCTIONS(TRAMPOLINE)

struct entry {
  const char *name;
  void **slot;
};

#define ENTRY(name) {#name, &kestrel_slot_##name},
static const struct entry cuda_entries[] = {CUDA_FUNCTIONS(ENTRY)};
static const struct entry nvrtc_entries[] = {NVRTC_FUNCTIONS(ENTRY)};

// Package cu calls it before main and ends the program unless it returns 0.
__attribute__((visibility("hidden"))) int cuInit(unsigned flags) {
  (void)flags;
  return 0;
}

static int (*real_init)(unsigned);

static const char *load(const char *path, const char *first, const struct entry *entries, size_t n, void **handle) {
  void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!h) return dlerror();
  if (!dlsym(h, first)) return dlerror();
  for (size_t i = 0; i < n; i++) {
    void *f = dlsym(h, entries[i].name);
    *entries[i].slot = f ? f : (void *)not_found;
  }
  *handle = h;
  return NULL;
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *kestrel_load_cuda(const char *path) {
  void *h;
  const char *err = load(path, "cuInit", cuda_entries, COUNT(cuda_entries), &h);
  if (!err) real_init = (int (*)(unsigned))dlsym(h, "cuInit");
  return err;
}

int kestrel_init(void) { return real_init ? real_init(0) : 3; }

const char *kestrel_load_nvrtc(const char *path) {
  void *h;
  return load(path, "nvrtcVersion", nvrtc_entries, COUNT(nvrtc_entries), &h);
}

void kestrel_open(const char *path) { dlopen(path, RTLD_NOW | RTLD_GLOBAL); }
