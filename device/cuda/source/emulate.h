// Runs CUDA C on the host, for tests without a card: compiled by g++ before a
// kernel source, it gives every word of CUDA that the sources use a meaning.
//
// A grid is run block by block, on the calling thread. The threads of a block
// are fibers, switched only at barriers: __syncthreads waits for the block,
// __syncwarp and the shuffles for the warp. Between barriers a thread runs
// alone, so what depends on the order of threads is a race; with
// KESTREL_EMULATE_ORDER=reverse in the environment they run in the opposite
// order, and results that change show it. Shared memory that a launch asks for
// holds NaN at first.
//
// One grid is run at a time in a process.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#define EMULATE 1
#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __shared__ static

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace emulate {

struct Index {
	unsigned x, y, z;
};

static Index thread, block, blocks, threads;
static std::vector<double> dynamic; // shared memory that a launch asks for

enum State { ready, awaits_warp, awaits_block, done };

constexpr size_t stack_bytes = 128 << 10;

#if defined(__x86_64__)
// Saves the registers that a call must keep and the stack pointer, and takes
// up another stack.
extern "C" __attribute__((visibility("hidden"))) void emulate_switch(void **save, void *load);
asm(R"(
.text
.type emulate_switch,@function
emulate_switch:
	push %rbp
	push %rbx
	push %r12
	push %r13
	push %r14
	push %r15
	mov %rsp,(%rdi)
	mov %rsi,%rsp
	pop %r15
	pop %r14
	pop %r13
	pop %r12
	pop %rbx
	pop %rbp
	ret
.size emulate_switch,.-emulate_switch
)");
typedef void *Context;
static void swap_to(Context *from, Context *to) { emulate_switch(from, *to); }
static void prepare(Context *c, char *stack, void (*entry)()) {
	auto top = (uintptr_t(stack) + stack_bytes) & ~uintptr_t(15);
	void **sp = (void **)top - 8;
	memset(sp, 0, 8 * sizeof *sp);
	sp[6] = (void *)entry; // where the last ret goes
	*c = sp;
}
#else
typedef ucontext_t Context;
static void swap_to(Context *from, Context *to) { swapcontext(from, to); }
static void prepare(Context *c, char *stack, void (*entry)()) {
	getcontext(c);
	c->uc_stack.ss_sp = stack;
	c->uc_stack.ss_size = stack_bytes;
	c->uc_link = nullptr;
	makecontext(c, entry, 0);
}
#endif

struct Fiber {
	Context context;
	char *stack;
	State state;
};

static std::vector<Fiber> fibers;
static std::vector<char *> stacks;
static Context scheduler;
static unsigned current;
static void (*body)(void *);
static void *body_arg;
static uint64_t slots[1024], slots2[1024]; // of shuffles

static void pause_as(State s) {
	Fiber &f = fibers[current];
	f.state = s;
	swap_to(&f.context, &scheduler);
}

static void run_fiber() {
	body(body_arg);
	pause_as(done);
}

static void resume(unsigned t) {
	Fiber &f = fibers[t];
	if (!f.stack) {
		if (stacks.empty())
			stacks.push_back((char *)malloc(stack_bytes));
		f.stack = stacks.back();
		stacks.pop_back();
		prepare(&f.context, f.stack, run_fiber);
	}
	current = t;
	thread = {t % threads.x, t / threads.x % threads.y, t / threads.x / threads.y};
	swap_to(&scheduler, &f.context);
	if (f.state == done) {
		stacks.push_back(f.stack);
		f.stack = nullptr;
	}
}

static void run_block(bool reverse) {
	const unsigned n = threads.x * threads.y * threads.z, warps = (n + 31) / 32;
	if (fibers.size() < n)
		fibers.resize(n);
	for (unsigned t = 0; t < n; t++) {
		fibers[t].stack = nullptr;
		fibers[t].state = ready;
	}
	std::fill(dynamic.begin(), dynamic.end(), std::numeric_limits<double>::quiet_NaN());
	for (bool more = true; more;) {
		more = false;
		for (unsigned i = 0; i < warps; i++) {
			const unsigned w = reverse ? warps - 1 - i : i;
			const unsigned from = 32 * w, to = std::min(n, from + 32);
			for (bool again = true; again;) {
				again = false;
				for (unsigned j = from; j < to; j++) {
					const unsigned t = reverse ? to - 1 - (j - from) : j;
					if (fibers[t].state == ready)
						resume(t);
				}
				for (unsigned t = from; t < to; t++)
					if (fibers[t].state == awaits_warp)
						fibers[t].state = ready, again = true;
			}
		}
		for (unsigned t = 0; t < n; t++)
			if (fibers[t].state == awaits_block)
				fibers[t].state = ready, more = true;
	}
}

static void run_grid(const unsigned grid[3], const unsigned size[3], unsigned shared, void (*f)(void *), void *arg) {
	static std::mutex one;
	std::lock_guard<std::mutex> lock(one);
	const char *order = getenv("KESTREL_EMULATE_ORDER");
	const bool reverse = order && !strcmp(order, "reverse");
	body = f, body_arg = arg;
	blocks = {grid[0], grid[1], grid[2]};
	threads = {size[0], size[1], size[2]};
	dynamic.resize((shared + 7) / 8);
	for (unsigned z = 0; z < grid[2]; z++)
		for (unsigned y = 0; y < grid[1]; y++)
			for (unsigned x = 0; x < grid[0]; x++) {
				block = {x, y, z};
				run_block(reverse);
			}
}

template <class... A, size_t... I>
void call(void (*f)(A...), void **params, std::index_sequence<I...>) {
	f(*(typename std::remove_cv<A>::type *)params[I]...);
}

template <class... A>
void launch(const unsigned grid[3], const unsigned size[3], unsigned shared, void (*f)(A...), void **params) {
	struct Job {
		void (*f)(A...);
		void **params;
	} job = {f, params};
	run_grid(grid, size, shared, [](void *p) {
		Job *j = (Job *)p;
		call(j->f, j->params, std::index_sequence_for<A...>{});
	}, &job);
}

template <class T> T exchange(T v, unsigned from) {
	static_assert(sizeof(T) <= 8, "shuffles move up to 8 bytes");
	memcpy(&slots[current], &v, sizeof v);
	pause_as(awaits_warp);
	memcpy(&v, &slots[(current & ~31u) | (from & 31u)], sizeof v);
	pause_as(awaits_warp);
	return v;
}

} // namespace emulate

struct alignas(16) double2 {
	double x, y;
};

#define threadIdx emulate::thread
#define blockIdx emulate::block
#define blockDim emulate::threads
#define gridDim emulate::blocks

static inline void __syncthreads() { emulate::pause_as(emulate::awaits_block); }
static inline void __syncwarp(unsigned = ~0u) { emulate::pause_as(emulate::awaits_warp); }
template <class T> static inline T __shfl_xor_sync(unsigned, T v, int mask) { return emulate::exchange(v, (emulate::current & 31) ^ mask); }
template <class T> static inline T __shfl_sync(unsigned, T v, int lane) { return emulate::exchange(v, lane); }

static inline double __hiloint2double(int hi, int lo) {
	const uint64_t bits = (uint64_t)(uint32_t)hi << 32 | (uint32_t)lo;
	double v;
	memcpy(&v, &bits, sizeof v);
	return v;
}
static inline double sinpi(double x) { return std::sin(M_PI * (x - 2 * std::rint(x / 2))); }
static inline double cospi(double x) { return std::cos(M_PI * (x - 2 * std::rint(x / 2))); }
static inline void sincospi(double x, double *s, double *c) { *s = sinpi(x), *c = cospi(x); }
using std::isfinite;
using std::max;
using std::min;

// A kernel is reached from outside by its name behind emulate_.
#define EMULATE_KERNEL(name)                                                                                           \
	extern "C" void emulate_##name(const unsigned grid[3], const unsigned size[3], unsigned shared, void **params) {    \
		emulate::launch(grid, size, shared, name, params);                                                             \
	}
