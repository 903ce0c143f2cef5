// A libcuda that needs no card: device memory is host memory, kernels are
// functions of shared objects that the fake libnvrtc made. It holds only what
// package driver calls, and is stricter than a card where that finds mistakes:
// every call needs the context current on its thread, what is asynchronous is
// put off until someone waits, addresses are checked, fresh memory holds NaN,
// and a write past an allocation is found when it is freed.
//
// Read when cuInit is called:
//
//   KESTREL_FAKE_CARDS     number of cards (1; 0: none)
//   KESTREL_FAKE_MEMORY    bytes of each (2 GiB)
//   KESTREL_FAKE_DRIVER    CUDA version of the driver (12040); read by cuDriverGetVersion
//   KESTREL_FAKE_FAIL_AT   this launch on a card, from 1, and all later ones fail (0: none)
//   KESTREL_FAKE_FAIL_CARD only on this card (-1: on all)
//   KESTREL_FAKE_ARCH      compute capability (90)
//   KESTREL_FAKE_SHARED    bytes of shared memory that a block can ask for (227 KiB)
//   KESTREL_FAKE_ODD_CARD  number, from 1, of the only card of which these two are so (0: all)
//   KESTREL_FAKE_EVENTS    this event on a card, from 1, cannot be made (0: none)
//   KESTREL_FAKE_HANG_AT   this launch on a card, from 1, takes so long (0: none)
//   KESTREL_FAKE_HANG_MS   as this says
//   KESTREL_FAKE_RATIO     how many times faster FP32 is than FP64 (2)
//   KESTREL_FAKE_GRAPHS    1: there are no functions for graphs, as in old drivers; 2: no memory for one (0)
//   KESTREL_FAKE_PROCESSORS multiprocessors (4)
//   KESTREL_FAKE_IDLE      1: kernels are any, and not carried out, and memory is there but holds nothing: what is read is 0 (0)
//   KESTREL_FAKE_PTX       the shared object that PTX for the card's capability or a lower one stands for

#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#define API extern "C" __attribute__((visibility("default")))

namespace {

enum Result {
  success = 0,
  invalid_value = 1,
  out_of_memory = 2,
  not_initialized = 3,
  no_device = 100,
  invalid_device = 101,
  invalid_image = 200,
  invalid_context = 201,
  file_not_found = 301,
  invalid_handle = 400,
  not_found = 500,
  illegal_address = 700,
  launch_failed = 719,
  stream_capture_unsupported = 900,
  stream_capture_invalidated = 901,
  stream_capture_wrong_thread = 908,
};

long setting(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text && *text ? atol(text) : otherwise;
}

struct Context;
// Node is a call that was captured.
struct Node {
  std::function<int()> work;
  bool launch;
};
struct Graph {
  Context *context;
  std::vector<Node> nodes;
};
struct Stream {
  Context *context;
  bool capturing = false, invalid = false;
  std::thread::id thread;  // that captures
  std::vector<Node> nodes;
};
struct Event {
  Context *context;
  uint64_t recorded = 0, passed = 0;  // numbers of recordings asked for and carried out
};
struct Module {
  Context *context;
  void *library;
};
using Kernel = void (*)(const unsigned *, const unsigned *, unsigned, void **);
struct Function {
  Context *context;
  Kernel kernel;
  std::string name;
  int shared_limit = 48 << 10;
  long launched = 0;
};

bool idle_cards;

const size_t guard = 256;  // bytes beyond every allocation
const unsigned char guard_byte = 0xA5;

// Context is a card with its only context. Its lock is held by every call.
struct Context {
  int card = 0;
  std::recursive_mutex lock;
  int retained = 0;
  int broken = success;  // what every call returns once the card is lost
  long launches = 0, made = 0;  // launches; events
  size_t used = 0;
  std::map<uintptr_t, size_t> allocations;
  std::deque<std::function<int()>> queue;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<Function>> functions;
  std::map<Event *, std::unique_ptr<Event>> events;
  std::map<Module *, std::unique_ptr<Module>> modules;
  std::map<Graph *, std::unique_ptr<Graph>> graphs, recorded;  // recorded: those that can be launched
  long calls = 0, graph_launches = 0, captures = 0, bytes_in = 0, bytes_out = 0;

  // drain carries out what was put off.
  int drain() {
    while (!queue.empty() && !broken) {
      auto f = std::move(queue.front());
      queue.pop_front();
      if (int r = f()) broken = r;
    }
    return broken;
  }

  int put_off(std::function<int()> f) {
    if (broken) return broken;
    queue.push_back(std::move(f));
    return queue.size() > 4096 ? drain() : success;
  }

  // ask puts a call of a stream off, or captures it.
  int ask(Stream *s, bool launch, std::function<int()> f);
  int put_off_launch(std::function<int()> f);

  // holds reports whether bytes from p on lie in one allocation.
  bool holds(uintptr_t p, size_t bytes) {
    auto i = allocations.upper_bound(p);
    if (i == allocations.begin()) return false;
    --i;
    return p - i->first <= i->second && bytes <= i->second - (p - i->first);
  }

  int release(uintptr_t p) {
    auto i = allocations.find(p);
    if (i == allocations.end()) return invalid_value;
    auto *end = reinterpret_cast<unsigned char *>(p + i->second);
    int r = success;
    for (size_t k = 0; k < guard && !idle_cards; k++) {
      if (end[k] != guard_byte) {
        fprintf(stderr, "fake libcuda: something wrote %zu bytes past an allocation of %zu bytes\n", k + 1, i->second);
        r = illegal_address;
        break;
      }
    }
    used -= i->second;
    if (!idle_cards) memset(reinterpret_cast<void *>(p), 0xFF, i->second);  // who still reads it gets NaN
    free(reinterpret_cast<void *>(p));
    allocations.erase(i);
    return r;
  }

  void reset() {
    queue.clear();
    while (!allocations.empty()) release(allocations.begin()->first);
    streams.clear();
    functions.clear();
    events.clear();
    for (auto &m : modules)
      if (m.second->library) dlclose(m.second->library);
    modules.clear();
    graphs.clear();
    recorded.clear();
    broken = success;
    launches = made = calls = graph_launches = captures = bytes_in = bytes_out = 0;
  }
};

std::mutex all;
std::vector<std::unique_ptr<Context>> contexts;
int cards = -1;
size_t memory;
long fail_at, fail_card, odd_card, event_at, hang_at, hang_ms;

bool odd(int card) { return odd_card == 0 || odd_card == card + 1; }
int arch(int card) { return odd(card) ? int(setting("KESTREL_FAKE_ARCH", 90)) : 90; }
int shared(int card) { return odd(card) ? int(setting("KESTREL_FAKE_SHARED", 227 << 10)) : 227 << 10; }

thread_local Context *current;

// with calls f with the thread's context locked.
template <class F>
int with(F f) {
  if (cards < 0) return not_initialized;
  Context *c = current;
  if (!c) return invalid_context;
  std::lock_guard<std::recursive_mutex> hold(c->lock);
  if (!c->retained) return invalid_context;
  if (c->broken) return c->broken;
  c->calls++;
  return f(*c);
}

int known(int card) { return cards < 0 ? not_initialized : card < 0 || card >= cards ? invalid_device : success; }

int owned(Context &c, Stream *s) { return s && s->context == &c ? success : invalid_handle; }

// idle refuses what may not be asked of a stream that captures, and spoils what it has captured.
int idle(Context &c, Stream *s) {
  if (int r = owned(c, s)) return r;
  if (!s->capturing) return success;
  s->invalid = true;
  return stream_capture_unsupported;
}

int Context::ask(Stream *s, bool launch, std::function<int()> f) {
  if (!s->capturing) return launch ? put_off_launch(std::move(f)) : put_off(std::move(f));
  if (broken) return broken;
  s->nodes.push_back({std::move(f), launch});
  return success;
}

int Context::put_off_launch(std::function<int()> f) {
  launches++;
  if (fail_at > 0 && launches >= fail_at && (fail_card < 0 || fail_card == card)) return put_off([] { return launch_failed; });
  if (launches == hang_at)
    if (int r = put_off([] { return std::this_thread::sleep_for(std::chrono::milliseconds(hang_ms)), success; })) return r;
  return put_off(std::move(f));
}

const struct {
  int code;
  const char *name, *text;
} errors[] = {
    {invalid_value, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {not_initialized, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {no_device, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {invalid_device, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {invalid_image, "CUDA_ERROR_INVALID_IMAGE", "device kernel image is invalid"},
    {invalid_context, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {file_not_found, "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {invalid_handle, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {not_found, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {launch_failed, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
};

}  // namespace

API int cuInit(unsigned) {
  std::lock_guard<std::mutex> hold(all);
  cards = int(setting("KESTREL_FAKE_CARDS", 1));
  memory = size_t(setting("KESTREL_FAKE_MEMORY", 2l << 30));
  fail_at = setting("KESTREL_FAKE_FAIL_AT", 0);
  fail_card = setting("KESTREL_FAKE_FAIL_CARD", -1);
  odd_card = setting("KESTREL_FAKE_ODD_CARD", 0);
  event_at = setting("KESTREL_FAKE_EVENTS", 0);
  hang_at = setting("KESTREL_FAKE_HANG_AT", 0);
  hang_ms = setting("KESTREL_FAKE_HANG_MS", 0);
  idle_cards = setting("KESTREL_FAKE_IDLE", 0) == 1;
  while (int(contexts.size()) < cards) {
    contexts.push_back(std::make_unique<Context>());
    contexts.back()->card = int(contexts.size()) - 1;
  }
  return cards > 0 ? success : no_device;
}

API int cuDriverGetVersion(int *version) {
  *version = int(setting("KESTREL_FAKE_DRIVER", 12040));
  return success;
}

API int cuGetErrorName(int code, const char **name) {
  for (auto &e : errors)
    if (e.code == code) return *name = e.name, success;
  return *name = nullptr, invalid_value;
}

API int cuGetErrorString(int code, const char **text) {
  for (auto &e : errors)
    if (e.code == code) return *text = e.text, success;
  return *text = nullptr, invalid_value;
}

API int cuDeviceGetCount(int *count) {
  *count = cards < 0 ? 0 : cards;
  return cards < 0 ? not_initialized : success;
}

API int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return known(ordinal);
}

API int cuDeviceGetName(char *name, int size, int device) {
  snprintf(name, size_t(size), "fake card %d", device);
  return known(device);
}

API int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  *bytes = memory;
  return known(device);
}

API int cuDeviceGetAttribute(int *value, int attribute, int device) {
  switch (attribute) {
    case 75: *value = arch(device) / 10; break;  // compute capability, major
    case 76: *value = arch(device) % 10; break;  // minor
    case 16: *value = int(setting("KESTREL_FAKE_PROCESSORS", 4)); break;  // multiprocessors
    case 97: *value = shared(device); break;  // shared memory per block, opt-in
    case 81: *value = 228 << 10; break;    // per multiprocessor
    case 39: *value = 2048; break;         // threads per multiprocessor
    case 13: *value = 1000000; break;      // kHz
    case 87: *value = int(setting("KESTREL_FAKE_RATIO", 2)); break;  // FP32 to FP64
    case 115: *value = 1; break;           // memory pools
    default: *value = 0;
  }
  return known(device);
}

API int cuStreamBeginCapture_v2(Stream *stream, int) {
  return with([&](Context &c) -> int {
    if (setting("KESTREL_FAKE_GRAPHS", 0) == 1) return not_found;
    if (int r = idle(c, stream)) return r;
    c.captures++;
    stream->capturing = true;
    stream->thread = std::this_thread::get_id();
    return success;
  });
}

API int cuStreamEndCapture(Stream *stream, Graph **graph) {
  return with([&](Context &c) -> int {
    if (int r = owned(c, stream)) return r;
    if (!stream->capturing) return invalid_value;
    if (stream->thread != std::this_thread::get_id()) return stream_capture_wrong_thread;
    auto nodes = std::move(stream->nodes);
    bool invalid = stream->invalid;
    stream->capturing = stream->invalid = false;
    stream->nodes.clear();
    if (invalid) return *graph = nullptr, stream_capture_invalidated;
    auto g = std::make_unique<Graph>(Graph{&c, std::move(nodes)});
    *graph = g.get();
    c.graphs[*graph] = std::move(g);
    return success;
  });
}

API int cuGraphInstantiateWithFlags(Graph **exec, Graph *graph, unsigned long long) {
  return with([&](Context &c) -> int {
    if (!c.graphs.count(graph)) return invalid_handle;
    if (setting("KESTREL_FAKE_GRAPHS", 0) == 2) return out_of_memory;
    auto g = std::make_unique<Graph>(*graph);
    *exec = g.get();
    c.recorded[*exec] = std::move(g);
    return success;
  });
}

API int cuGraphDestroy(Graph *graph) {
  return with([&](Context &c) -> int { return c.graphs.erase(graph) ? success : invalid_handle; });
}

API int cuGraphExecDestroy(Graph *exec) {
  return with([&](Context &c) -> int {
    if (!c.queue.empty()) return fprintf(stderr, "fake libcuda: a graph is destroyed that may be running\n"), invalid_value;
    return c.recorded.erase(exec) ? success : invalid_handle;
  });
}

API int cuGraphLaunch(Graph *exec, Stream *stream) {
  return with([&](Context &c) -> int {
    if (int r = idle(c, stream)) return r;
    if (!c.recorded.count(exec)) return invalid_handle;
    c.graph_launches++;
    for (auto &n : exec->nodes)
      if (int r = n.launch ? c.put_off_launch(n.work) : c.put_off(n.work)) return r;
    return success;
  });
}

// What a card has been asked for since it was opened: 0 calls that concern its context, 1 kernels run, 2
// launches of graphs, 3 captures, 4 and 5 bytes copied from the host and to it, 6 bytes that are allocated.
API long kestrel_fake_count(int card, int what) {
  Context *c = contexts[size_t(card)].get();
  std::lock_guard<std::recursive_mutex> hold(c->lock);
  const long counts[] = {c->calls, c->launches, c->graph_launches, c->captures, c->bytes_in, c->bytes_out, long(c->used)};
  return counts[what];
}

// How many launches of kernels of a name a card has carried out since it was opened.
API long kestrel_fake_launched(int card, const char *name) {
  Context *c = contexts[size_t(card)].get();
  std::lock_guard<std::recursive_mutex> hold(c->lock);
  long n = 0;
  for (auto &f : c->functions)
    if (f->name == name) n += f->launched;
  return n;
}

API int cuDeviceGetUuid(char *uuid, int device) {
  memset(uuid, device + 1, 16);
  return known(device);
}

API int cuDeviceGetUuid_v2(char *uuid, int device) { return cuDeviceGetUuid(uuid, device); }

API int cuDevicePrimaryCtxRetain(Context **context, int device) {
  if (int r = known(device)) return r;
  Context *c = contexts[size_t(device)].get();
  std::lock_guard<std::recursive_mutex> hold(c->lock);
  c->retained++;
  *context = c;
  return success;
}

API int cuDevicePrimaryCtxRelease_v2(int device) {
  if (int r = known(device)) return r;
  Context *c = contexts[size_t(device)].get();
  std::lock_guard<std::recursive_mutex> hold(c->lock);
  if (c->retained == 0) return invalid_context;
  if (--c->retained == 0) {
    c->drain();
    int r = success;
    for (auto &a : c->broken ? std::map<uintptr_t, size_t>() : c->allocations) {
      fprintf(stderr, "fake libcuda: %zu bytes were never freed\n", a.second);
      r = illegal_address;
    }
    if (!c->broken && (!c->graphs.empty() || !c->recorded.empty())) {
      fprintf(stderr, "fake libcuda: %zu graphs were never destroyed\n", c->graphs.size() + c->recorded.size());
      r = illegal_address;
    }
    int broken = c->broken;
    c->reset();
    return broken ? broken : r;
  }
  return success;
}

API int cuDevicePrimaryCtxReset_v2(int device) {
  if (int r = known(device)) return r;
  Context *c = contexts[size_t(device)].get();
  std::lock_guard<std::recursive_mutex> hold(c->lock);
  c->reset();
  return success;
}

API int cuCtxSetCurrent(Context *context) {
  current = context;
  return context && !context->retained ? invalid_context : success;
}

API int cuCtxGetCurrent(Context **context) {
  *context = current;
  return success;
}

API int cuCtxSynchronize() {
  return with([](Context &c) -> int { return c.drain(); });
}

API int cuStreamCreate(Stream **stream, unsigned) {
  return with([&](Context &c) -> int {
    c.streams.push_back(std::make_unique<Stream>());
    c.streams.back()->context = &c;
    *stream = c.streams.back().get();
    return success;
  });
}

API int cuStreamDestroy_v2(Stream *stream) {
  return with([&](Context &c) -> int {
    if (int r = idle(c, stream)) return r;
    int r = c.drain();
    stream->context = nullptr;
    return r;
  });
}

API int cuStreamSynchronize(Stream *stream) {
  return with([&](Context &c) -> int {
    if (int r = idle(c, stream)) return r;
    return c.drain();
  });
}

API int cuEventCreate(Event **event, unsigned) {
  return with([&](Context &c) -> int {
    if (++c.made == event_at) return out_of_memory;
    auto e = std::make_unique<Event>(Event{&c});
    *event = e.get();
    c.events[*event] = std::move(e);
    return success;
  });
}

API int cuEventDestroy_v2(Event *event) {
  return with([&](Context &c) -> int {
    if (int r = c.drain()) return r;
    return c.events.erase(event) ? success : invalid_handle;
  });
}

API int cuEventRecord(Event *event, Stream *stream) {
  return with([&](Context &c) -> int {
    if (int r = idle(c, stream)) return r;
    uint64_t number = ++event->recorded;
    return c.put_off([event, number] { return event->passed = number, success; });
  });
}

// Only what comes before the event is carried out.
API int cuEventSynchronize(Event *event) {
  return with([&](Context &c) -> int {
    while (event->passed < event->recorded && !c.queue.empty() && !c.broken) {
      auto f = std::move(c.queue.front());
      c.queue.pop_front();
      if (int r = f()) c.broken = r;
    }
    return c.broken;
  });
}

API int cuEventElapsedTime(float *milliseconds, Event *, Event *) {
  *milliseconds = 1;
  return success;
}

API int cuMemAlloc_v2(uintptr_t *p, size_t bytes) {
  return with([&](Context &c) -> int {
    if (bytes == 0) return invalid_value;
    if (bytes > memory || c.used > memory - bytes) return out_of_memory;
    size_t whole = (bytes + guard + 255) / 256 * 256;
    auto *m = static_cast<unsigned char *>(aligned_alloc(256, whole));
    if (!m) return out_of_memory;
    if (!idle_cards) memset(m, 0xFF, bytes), memset(m + bytes, guard_byte, guard);
    *p = reinterpret_cast<uintptr_t>(m);
    c.allocations[*p] = bytes;
    c.used += bytes;
    return success;
  });
}

API int cuMemFree_v2(uintptr_t p) {
  return with([&](Context &c) -> int {
    if (int r = c.drain()) return r;
    int r = c.release(p);
    if (r == illegal_address) c.broken = r;
    return r;
  });
}

// What is freed in the order of the stream is free for the next allocation in
// it, so the queue is carried out.
API int cuMemAllocAsync(uintptr_t *p, size_t bytes, Stream *stream) {
  return with([&](Context &c) -> int {
    if (int r = idle(c, stream)) return r;
    int r = cuMemAlloc_v2(p, bytes);
    if (r != out_of_memory) return r;
    if ((r = c.drain())) return r;
    return cuMemAlloc_v2(p, bytes);
  });
}

API int cuMemFreeAsync(uintptr_t p, Stream *stream) {
  return with([&](Context &c) -> int {
    if (int r = idle(c, stream)) return r;
    if (!c.allocations.count(p)) return invalid_value;
    return c.put_off([&c, p] { return c.release(p); });
  });
}

API int cuDeviceGetDefaultMemPool(void **pool, int device) {
  *pool = contexts[size_t(device)].get();
  return known(device);
}

API int cuMemPoolSetAttribute(void *, int, void *) { return success; }

API int cuMemPoolGetAttribute(void *, int, uint64_t *value) {
  *value = 0;
  return success;
}

API int cuMemPoolTrimTo(void *, size_t) { return success; }

API int cuMemGetInfo_v2(size_t *left, size_t *total) {
  return with([&](Context &c) -> int {
    if (int r = c.drain()) return r;
    *left = memory - c.used;
    *total = memory;
    return success;
  });
}

API int cuMemHostAlloc(void **p, size_t bytes, unsigned) {
  return with([&](Context &) -> int {
    *p = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    return *p ? success : out_of_memory;
  });
}

API int cuMemFreeHost(void *p) {
  return with([&](Context &c) -> int {
    int r = c.drain();
    free(p);
    return r;
  });
}

API int cuMemcpyHtoDAsync_v2(uintptr_t dst, const void *src, size_t bytes, Stream *stream) {
  return with([&](Context &c) -> int {
    if (int r = idle(c, stream)) return r;
    if (!c.holds(dst, bytes)) return invalid_value;
    c.bytes_in += long(bytes);
    if (idle_cards) return success;
    return c.put_off([=] { return memcpy(reinterpret_cast<void *>(dst), src, bytes), success; });
  });
}

API int cuMemcpyDtoHAsync_v2(void *dst, uintptr_t src, size_t bytes, Stream *stream) {
  return with([&](Context &c) -> int {
    if (int r = idle(c, stream)) return r;
    if (!c.holds(src, bytes)) return invalid_value;
    c.bytes_out += long(bytes);
    if (idle_cards) return memset(dst, 0, bytes), success;
    return c.put_off([=] { return memcpy(dst, reinterpret_cast<void *>(src), bytes), success; });
  });
}

API int cuMemcpyDtoDAsync_v2(uintptr_t dst, uintptr_t src, size_t bytes, Stream *stream) {
  return with([&](Context &c) -> int {
    if (int r = idle(c, stream)) return r;
    if (!c.holds(dst, bytes) || !c.holds(src, bytes) || (dst < src + bytes && src < dst + bytes)) return invalid_value;
    if (idle_cards) return success;
    return c.put_off([=] { return memcpy(reinterpret_cast<void *>(dst), reinterpret_cast<void *>(src), bytes), success; });
  });
}

API int cuMemsetD8Async(uintptr_t dst, unsigned char value, size_t bytes, Stream *stream) {
  return with([&](Context &c) -> int {
    if (int r = owned(c, stream)) return r;
    if (!c.holds(dst, bytes)) return invalid_value;
    return c.ask(stream, false, [=, &c] {
      if (!c.holds(dst, bytes)) return illegal_address;  // a graph may be older than what it sets
      if (idle_cards) return success;
      return memset(reinterpret_cast<void *>(dst), value, bytes), success;
    });
  });
}

API int cuModuleLoadData(Module **module, const void *image) {
  return with([&](Context &c) -> int {
    static const char first[] = "KESTREL-FAKE-MODULE ";
    auto *text = static_cast<const char *>(image);
    std::string path;
    if (strncmp(text, first, sizeof first - 1) == 0) {
      path.assign(text + sizeof first - 1, strcspn(text + sizeof first - 1, "\n"));
    } else if (const char *target = strstr(text, "\n.target sm_")) {
      const char *object = getenv("KESTREL_FAKE_PTX");
      if (!object || !*object || atoi(target + 12) > arch(c.card)) return invalid_image;
      path = object;
    } else {
      return invalid_image;
    }
    void *library = idle_cards ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library && !idle_cards) return fprintf(stderr, "fake libcuda: %s\n", dlerror()), file_not_found;
    auto m = std::make_unique<Module>(Module{&c, library});
    *module = m.get();
    c.modules[*module] = std::move(m);
    return success;
  });
}

API int cuModuleUnload(Module *module) {
  return with([&](Context &c) -> int {
    if (int r = c.drain()) return r;
    auto i = c.modules.find(module);
    if (i == c.modules.end()) return invalid_handle;
    if (module->library) dlclose(module->library);
    c.modules.erase(i);
    return success;
  });
}

API int cuModuleGetFunction(Function **function, Module *module, const char *name) {
  return with([&](Context &c) -> int {
    if (!c.modules.count(module)) return invalid_handle;
    Kernel kernel = nullptr;
    if (module->library) kernel = reinterpret_cast<Kernel>(dlsym(module->library, (std::string("emulate_") + name).c_str()));
    if (!kernel && !idle_cards) return not_found;
    c.functions.push_back(std::make_unique<Function>(Function{&c, kernel, name}));
    *function = c.functions.back().get();
    return success;
  });
}

API int cuFuncGetAttribute(int *value, int attribute, Function *function) {
  return with([&](Context &) -> int {
    switch (attribute) {
      case 0: *value = 1024; break;                    // threads per block
      case 4: *value = 32; break;                      // registers
      case 8: *value = function->shared_limit; break;  // dynamic shared memory
      default: *value = 0;
    }
    return success;
  });
}

API int cuFuncSetAttribute(Function *function, int attribute, int value) {
  return with([&](Context &) -> int {
    if (attribute != 8 || value < 0 || value > shared(function->context->card)) return invalid_value;
    function->shared_limit = value;
    return success;
  });
}

API int cuLaunchKernel(Function *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared,
                       Stream *stream, void **params, void **) {
  return with([&](Context &c) -> int {
    if (int r = owned(c, stream)) return r;
    if (!f || f->context != &c) return invalid_handle;
    if (!gx || !gy || !gz || !bx || !by || !bz || gx > 0x7FFFFFFF || gy > 65535 || gz > 65535 || bx > 1024 || by > 1024 || bz > 64 ||
        uint64_t(bx) * by * bz > 1024 || int64_t(shared) > f->shared_limit)
      return invalid_value;
    // How many arguments there are only the kernel knows; the caller has room
    // for 64 and leaves the rest unset, so it says so with a null pointer.
    std::vector<uint64_t> values;
    for (int i = 0; i < 64 && params[i]; i++) values.push_back(*static_cast<uint64_t *>(params[i]));
    return c.ask(stream, true, [=]() mutable {
      f->launched++;
      if (idle_cards) return success;
      std::vector<void *> slots;
      for (auto &v : values) slots.push_back(&v);
      const unsigned grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
      f->kernel(grid, block, shared, slots.data());
      return success;
    });
  });
}
