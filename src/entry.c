/*
 * What happens before main(), in place of what the C library does.
 *
 * The C library's own beginning asks the processor some seventy times what it can do and how large
 * its caches are, to choose among its ways to copy memory. In a virtual machine the hypervisor
 * answers each of these questions (CPUID), at 4 µs apiece: more than half of what a short command
 * takes. A program that mostly starts others and waits for them copies little, and does well with
 * what every x86-64 has, so this beginning does all that the other one does, in its order, and asks
 * nothing.
 *
 * It calls the C library's inner functions, which another version may not have. The build therefore
 * takes it only for the version that it was written for, linked statically and to a fixed address,
 * and only after a program with it has run; every other build begins as usual (meson.build).
 *
 * What the choice would need later is not there either: nothing in the program may load another
 * library (dlopen(), name services), as that one would have the same answers, which are all 0.
 */
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>

typedef int main_function(int argc, char **argv, char **env);

/* NOLINTBEGIN(bugprone-reserved-identifier): the names are the C library's. */

/* Made by the linker. */
extern const ElfW(Rela) __rela_iplt_start[], __rela_iplt_end[];
extern main_function *__preinit_array_start[], *__preinit_array_end[];
extern main_function *__init_array_start[], *__init_array_end[];
extern void (*__fini_array_start[])(void), (*__fini_array_end[])(void);
void _init(void);
void _fini(void);

/* Inside the C library. */
extern char **__environ;
extern void *__libc_stack_end;
extern int __libc_enable_secure;
extern uintptr_t *_dl_random; /* two random words from the kernel */
void _dl_aux_init(ElfW(auxv_t) * aux);
void __tunables_init(char **env);
void __libc_setup_tls(void);
void __libc_early_init(_Bool first);
void __libc_init_first(int argc, char **argv, char **env);
void __libc_check_standard_fds(void);
int __cxa_atexit(void (*f)(void *), void *data, void *library);

/* What copying asks, in bytes: the C library's own values for a processor that does not tell. */
long __x86_data_cache_size = 32 * 1024;
long __x86_data_cache_size_half = 32 * 1024 / 2;
long __x86_shared_cache_size = 1024 * 1024;
long __x86_shared_cache_size_half = 1024 * 1024 / 2;
long __x86_shared_non_temporal_threshold = 1024 * 1024 * 3 / 4;
long __x86_rep_movsb_threshold = 2048;
long __x86_rep_movsb_stop_threshold = 1024 * 1024 * 3 / 4;
long __x86_rep_stosb_threshold = 2048;
int __x86_string_control = 0;

/* Functions of which there are several, such as memcpy(): which one the program calls. */
static void choose_functions(void)
{
	for (const ElfW(Rela) *r = __rela_iplt_start; r < __rela_iplt_end; r++) {
		ElfW(Addr) (*choose)(void) = (ElfW(Addr)(*)(void))r->r_addend;

		*(ElfW(Addr) *)r->r_offset = choose();
	}
}

static void run_all(main_function **from, main_function **end, int argc, char **argv, char **env)
{
	for (; from < end; from++)
		(void)(*from)(argc, argv, env);
}

static void at_exit(void *data)
{
	(void)data;
	for (void (**f)(void) = __fini_array_end; f > __fini_array_start;)
		(*--f)();
	_fini();
}

/* Called by the first instructions of the program. The guard that a function looks at when it ends
 * is not there yet. */
int __libc_start_main(main_function *start, int argc, char **argv, void (*init)(void),
	void (*fini)(void), void (*loader_fini)(void), void *stack_end);

__attribute__((noreturn, no_stack_protector)) int __libc_start_main(main_function *start, int argc,
	char **argv, void (*init)(void), void (*fini)(void), void (*loader_fini)(void),
	void *stack_end)
{
	char **env = argv + argc + 1, **behind = env;

	(void)init; /* of the dynamic loader, and of programs linked in the old way */
	(void)fini;
	(void)loader_fini;
	__environ = env;
	__libc_stack_end = stack_end;
	while (*behind++)
		;
	_dl_aux_init((ElfW(auxv_t) *)behind);
	__tunables_init(env);
	choose_functions();
	__libc_setup_tls();
	/* The guard of the stack, whose first byte ends every string, and that of kept pointers. */
	uintptr_t guard = _dl_random[0] & ~(uintptr_t)0xff, pointers = _dl_random[1];
	__asm__ volatile("movq %0, %%fs:0x28" : : "r"(guard));
	__asm__ volatile("movq %0, %%fs:0x30" : : "r"(pointers));
	__libc_early_init(1);
	__libc_init_first(argc, argv, env);
	(void)__cxa_atexit(at_exit, NULL, NULL);
	if (__libc_enable_secure)
		__libc_check_standard_fds();
	run_all(__preinit_array_start, __preinit_array_end, argc, argv, env);
	_init();
	run_all(__init_array_start, __init_array_end, argc, argv, env);
	exit(start(argc, argv, env));
}

/* NOLINTEND(bugprone-reserved-identifier) */
