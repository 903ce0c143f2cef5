// Package cuda is the device of NVIDIA cards: one lane a card, all kernels of a
// lane in one batch. All of it is behind the build tag cuda; the package without
// the tag is empty. See package driver for how a program with it starts where
// there is no card.
//
// An operation is one launch, or a few, for all members that it concerns; the
// list of members is copied to the card once and kept. Nothing waits: failures
// are kept and told by Read and Sync. All sums have a fixed order that does not
// depend on how many members are in a batch, so no atomic additions, and no
// library whose algorithm depends on the batch (cuBLAS).
//
// Folder source has the CUDA C. Products, solves and factorisations work on
// panels of 64 in shared memory, with the FP64 instructions of the tensor cores
// where the card has them. Kernel matrices are computed by code generated for every
// structure of an expression and compiled with libnvrtc, twelve structures a
// module and launch; and by an interpreter, one launch for all, where matrices are
// so small that launches would cost more than they save, where there is no
// libnvrtc, for very large expressions, and for what the compiler refuses, which
// Device.Notices tells. Both give the same bits. Where there is no libnvrtc that
// serves, the library, the interpreter with it, comes from PTX that is part of the
// program (source/image).
//
// Where matrices are small (M ≤ 32, B ≤ 64) many steps of the stochastic optimisers are one
// launch, a block a member (device.SmallSteps, source/small.cu).
//
// A card must be of compute capability 7.0 or later and give a block 63 KiB of shared memory.
// With less than 67 KiB, as 7.5 has it, solves take 32 columns at a time.
//
// Without a card: the tests run the same sources on the host (driver/fake,
// source/emulate.h), where KESTREL_EMULATE_ORDER=reverse shows missing barriers;
// command check compiles every kernel and fails where one spills registers. With
// one: KESTREL_TEST_CARD=1 go test -tags cuda -run TestCard -bench Card
// ./device/cuda.
package cuda
