#include "remote/exchange.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/atomic-file.h"
#include "base/file-system.h"
#include "base/file.h"
#include "base/utf8.h"
#include "data/base64.h"
#include "data/json-out.h"
#include "remote/left.h"
#include "runs/dir/open.h"
#include "runs/dir/remove-tree.h"

double remote_scale = 1;
bool remote_may_scale;

uint64_t remote_ms(uint64_t ms)
{
	return remote_scale > 1 ? MAX((uint64_t)((double)ms / remote_scale), (uint64_t)1) : ms;
}

/* -- the directory -------------------------------------------------------------------------------
 */

bool exchange_is_full(const struct exchange *x)
{
	struct statfs st;

	return fstatfs(x->fd, &st) == 0 && st.f_blocks &&
	       (!st.f_bavail || (st.f_files && !st.f_ffree));
}

/* A directory that is ours and that no one else can write to. */
static int check_own(int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	return st.st_uid == geteuid() && !(st.st_mode & 077) ? 0 : -EPERM;
}

/* Whether others could put something else into the place of what is in a directory. */
static bool is_open_to_others(const struct stat *st)
{
	return (st->st_mode & 022) && !(st->st_mode & S_ISVTX);
}

/* Those of a group that a directory further up belongs to are let be: projects have such ones, and
 * what others put into the place of an exchange does not belong to its user. */
bool exchange_parents_check(const char *dir, struct report *r)
{
	char path[PATH_MAX];
	struct stat st;

	if (!realpath(dir, path))
		return report_errno(r, errno, "%s", dir);
	for (char *slash = path + strlen(path); slash > path + 1;) {
		while (slash > path && *--slash != '/')
			;
		slash[slash == path] = '\0'; /* the root keeps its own */
		if (stat(path, &st) < 0)
			return report_errno(r, errno, "%s", path);
		if (!(st.st_mode & S_IWOTH) || (st.st_mode & S_ISVTX))
			continue;
		report_system(r, (struct where){ 0 },
			"%s, which %s is in, can be written to by other users", path, dir);
		return report_hint(r, "chmod o-w %s, or name another `dir` of the executor", path);
	}
	return true;
}

bool exchange_root_check(const char *dir, struct report *r)
{
	struct stat st;
	const char *wrong = NULL;
	bool there = stat(dir, &st) == 0;

	if (!there && errno != ENOENT)
		return report_errno(r, errno, "%s", dir);
	if (!there)
		wrong = "does not exist";
	else if (!S_ISDIR(st.st_mode))
		wrong = "is not a directory";
	if (wrong) {
		report_error(r, (struct where){ 0 }, "%s %s", dir, wrong);
		return report_hint(r,
			"make `dir` of the executor with mkdir -m 700 where all nodes see it, or "
			"name another");
	}
	if (is_open_to_others(&st))
		report_system(r, (struct where){ 0 }, "%s can be written to by other users", dir);
	else if (access(dir, W_OK | X_OK) < 0)
		report_system(r, (struct where){ 0 }, "%s cannot be written to", dir);
	else
		return exchange_parents_check(dir, r);
	return report_hint(
		r, "`dir` of an executor is a directory of yours, or one that is sticky");
}

int exchange_open(struct exchange *x, const char *path, bool make)
{
	static const char *const inside[] = { "driver", "in", "w" };
	char real[4096];

	*x = EXCHANGE_NONE;
	if (make && mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r = fd < 0 ? -errno : check_own(fd);
	for (size_t i = 0; i < ARRAY_SIZE(inside) && make && r == 0; i++)
		if (mkdirat(fd, inside[i], 0700) < 0 && errno != EEXIST)
			r = -errno;
	if (r == 0 && !realpath(path, real))
		r = -errno;
	if (r < 0) {
		close_fd(&fd);
		return r;
	}
	x->fd = fd;
	x->path = mem_strdup(real);
	x->network = file_system_is_network_at(fd) ||
		     (remote_may_scale && getenv("ROUX_TEST_NETWORK_FILES"));
	return 0;
}

void exchange_close(struct exchange *x)
{
	close_fd(&x->fd);
	free(x->path);
	x->path = NULL;
}

static bool keep_log(const struct exchange *x, uint64_t id)
{
	char name[64];
	struct stat st;

	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/log", id);
	return fstatat(x->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_size > 0;
}

/* Everything of one worker, or all but what people look at. */
static void remove_worker(const struct exchange *x, uint64_t id, bool keep_job)
{
	char name[64];
	bool log = keep_log(x, id);

	(void)snprintf(name, sizeof(name), "w/%" PRIu64, id);
	int fd = run_open_dir_at(x->fd, name, false);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		close_fd(&fd);
		return;
	}
	for (struct dirent *e; (e = readdir(dir));) {
		if (e->d_name[0] == '.' || (log && strcmp(e->d_name, "log") == 0) ||
			((keep_job || log) &&
				(strcmp(e->d_name, "job") == 0 || strcmp(e->d_name, "claim") == 0)))
			continue;
		(void)unlinkat(dirfd(dir), e->d_name, 0);
	}
	(void)closedir(dir);
	(void)unlinkat(x->fd, name, AT_REMOVEDIR);
}

struct removing {
	struct exchange *x;
	bool (*keeps)(void *data, uint64_t id);
	void *data;
};

static void remove_one(void *data, uint64_t id)
{
	struct removing *r = data;

	remove_worker(r->x, id, r->keeps && r->keeps(r->data, id));
}

static void remove_files(const struct exchange *x, const char *name)
{
	int fd = run_open_dir_at(x->fd, name, false);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir) {
		close_fd(&fd);
		return;
	}
	for (struct dirent *e; (e = readdir(dir));)
		if (e->d_name[0] != '.')
			(void)unlinkat(dirfd(dir), e->d_name, 0);
	(void)closedir(dir);
	(void)unlinkat(x->fd, name, AT_REMOVEDIR);
}

void exchange_remove(struct exchange *x, bool (*keeps)(void *data, uint64_t id), void *data)
{
	static const char *const own[] = { "env.json", "run.json", "probe", "ended", WORKERS_FILE };

	(void)exchange_workers(x, remove_one, &(struct removing){ x, keeps, data });
	remove_files(x, "driver");
	remove_files(x, "in");
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		(void)unlinkat(x->fd, own[i], 0);
	(void)unlinkat(x->fd, "w", AT_REMOVEDIR);
	(void)rmdir(x->path);
}

/* -- run.json and env.json -----------------------------------------------------------------------
 */

void exchange_info_write(struct buf *b, const struct exchange_info *i)
{
	struct json_out o = { .b = b };

	json_out_object(&o, NULL);
	json_out_uint(&o, "protocol", 1);
	json_out_str(&o, "run", i->run);
	json_out_str(&o, "generation", i->generation);
	json_out_str(&o, "probe", i->probe);
	json_out_str(&o, "cwd", i->cwd);
	json_out_uint(&o, "cwd_ino", i->cwd_ino);
	json_out_uint(&o, "uid", i->uid);
	json_out_uint(&o, "umask", i->umask);
	json_out_uint(&o, "grace_ms", i->grace_ms);
	json_out_uint(&o, "idle_s", i->idle_s);
	json_out_uint(&o, "orphan_s", i->orphan_s);
	json_out_bool(&o, "network", i->network);
	json_out_bool(&o, "durable", i->durable);
	json_out_bool(&o, "careful", i->careful);
	json_out_bool(&o, "node_env", i->node_env);
	if (i->scale > 0)
		json_out_uint(&o, "scale_permille", (uint64_t)(i->scale * 1000));
	json_out_object_end(&o);
	buf_addc(b, '\n');
}

static struct str own(struct arena *a, const json_t *o, const char *name)
{
	return str_of(arena_cstr(a, json_text_of(o, name)));
}

static uint64_t number(const json_t *o, const char *name)
{
	json_int_t n = json_number_of(o, name);

	return n > 0 ? (uint64_t)n : 0;
}

bool exchange_info_read(struct str text, struct arena *a, struct exchange_info *ret)
{
	AUTO_JSON *o = json_loadb(text.p, text.len, 0, NULL);

	*ret = (struct exchange_info){
		.run = own(a, o, "run"),
		.generation = own(a, o, "generation"),
		.probe = own(a, o, "probe"),
		.cwd = own(a, o, "cwd"),
		.cwd_ino = number(o, "cwd_ino"),
		.uid = number(o, "uid"),
		.umask = number(o, "umask"),
		.grace_ms = number(o, "grace_ms"),
		.idle_s = number(o, "idle_s"),
		.orphan_s = number(o, "orphan_s"),
		.network = json_truth_of(o, "network"),
		.durable = json_truth_of(o, "durable"),
		.careful = json_truth_of(o, "careful"),
		.node_env = json_truth_of(o, "node_env"),
		.scale = (double)number(o, "scale_permille") / 1000,
	};
	return number(o, "protocol") == 1 && ret->run.len && ret->generation.len && ret->cwd.len &&
	       ret->cwd.p[0] == '/' && ret->umask <= 0777;
}

void exchange_env_write(struct buf *b, const char *const *env)
{
	struct json_out o = { .b = b };

	json_out_array(&o, NULL);
	for (size_t i = 0; env && env[i]; i++) {
		struct str entry = str_of(env[i]);
		AUTO_BUF coded = BUF_INIT;

		if (utf8_valid(entry)) {
			json_out_str(&o, NULL, entry);
			continue;
		}
		base64_write(&coded, entry);
		json_out_object(&o, NULL);
		json_out_str(&o, "b64", buf_str(&coded));
		json_out_object_end(&o);
	}
	json_out_array_end(&o);
	buf_addc(b, '\n');
}

bool exchange_env_read(struct str text, struct arena *a, const char *const **ret)
{
	AUTO_JSON *list = json_loadb(text.p, text.len, 0, NULL);
	size_t count = json_array_size(list);
	const char **env = arena_array(a, const char *, count + 1);

	*ret = env;
	for (size_t i = 0; i < count; i++) {
		const json_t *entry = json_array_get(list, i);
		AUTO_BUF bytes = BUF_INIT;

		if (json_is_object(entry) && !base64_read(json_text_of(entry, "b64"), &bytes))
			return false;
		env[i] = arena_cstr(a, json_is_object(entry) ? buf_str(&bytes) : json_str(entry));
		if (!strchr(env[i], '='))
			return false;
	}
	return json_is_array(list);
}

bool environ_is_nodes(const char *entry)
{
	static const char *const names[] = { "HOSTNAME=", "HOST=", "TMPDIR=", "XDG_RUNTIME_DIR=",
		"XDG_SESSION_", "DBUS_", "DISPLAY=", "WAYLAND_DISPLAY=", "SSH_",
		"TERM=", "TERMCAP=", "COLUMNS=", "LINES=", "WINDOW=", "STY=", "TMUX", "SLURM_",
		"SLURMD_", "SBATCH_", "PBS_", "SGE_", "CUDA_VISIBLE_DEVICES=",
		"GPU_DEVICE_ORDINAL=", "ROCR_VISIBLE_DEVICES=", "OMP_PROC_BIND=" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strncmp(entry, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

/* -- files ---------------------------------------------------------------------------------------
 */

int exchange_write(const struct exchange *x, const char *name, struct str bytes)
{
	AUTO_CLOSE int fd = run_open_at(x->fd, name, O_WRONLY | O_CREAT | O_TRUNC);
	int r = fd < 0 ? fd : fd_write_all(fd, bytes);

	return r < 0 ? r : fsync(fd) < 0 ? -errno : 0;
}

int exchange_read(const struct exchange *x, const char *name, size_t max, struct buf *ret)
{
	AUTO_CLOSE int fd = run_open_at(x->fd, name, O_RDONLY);

	return fd < 0 ? fd : fd_read_all(fd, max, ret);
}

void exchange_file_init(struct exchange_file *f, const struct exchange *x, const char *name,
	bool writes, bool brief)
{
	*f = (struct exchange_file){
		.name = mem_strdup(name), .fd = -1, .writes = writes, .brief = brief || x->network
	};
}

void exchange_file_done(struct exchange_file *f)
{
	close_fd(&f->fd);
	free(f->name);
	f->name = NULL;
}

static int file_open(const struct exchange *x, struct exchange_file *f)
{
	if (f->fd < 0)
		f->fd = run_open_at(x->fd, f->name, f->writes ? O_WRONLY | O_APPEND : O_RDONLY);
	return MIN(f->fd, 0);
}

static int file_close(struct exchange_file *f, int r)
{
	if (!f->brief && r >= 0)
		return r;
	int fd = take_fd(&f->fd);
	/* A file system that other machines share may say only here that there was no room. */
	if (fd >= 0 && close(fd) < 0 && r >= 0)
		r = -errno;
	return r;
}

int exchange_file_append(
	const struct exchange *x, struct exchange_file *f, struct str bytes, bool sync)
{
	struct stat before;
	int r = file_open(x, f);

	if (r == 0 && fstat(f->fd, &before) < 0)
		r = -errno;
	if (r == 0) {
		r = fd_write_all(f->fd, bytes);
		if (r < 0)
			(void)!ftruncate(f->fd, before.st_size);
	}
	if (r == 0 && sync && fdatasync(f->fd) < 0)
		r = -errno;
	return file_close(f, r);
}

/* Most looks find a few lines: what malloc() takes from the kernel and gives back at each of them
 * is larger than two of these. */
enum { PIECE = 32 * 1024 };

int exchange_file_follow(const struct exchange *x, struct exchange_file *f, uint64_t offset,
	size_t max, struct buf *ret)
{
	int r = file_open(x, f);

	while (r == 0 && max) {
		size_t piece = MIN(max, (size_t)PIECE);

		buf_reserve(ret, piece);
		ssize_t n = pread(f->fd, ret->p + ret->len, piece, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			r = -errno;
			break;
		}
		ret->len += (size_t)n;
		ret->p[ret->len] = '\0';
		offset += (uint64_t)n;
		max = (size_t)n < piece ? 0 : max - (size_t)n; /* less is the end of it, for now */
	}
	return file_close(f, r);
}

/* -- drivers -------------------------------------------------------------------------------------
 */

/* Calls `see` with every entry that is a number, in any order. */
static int numbers(
	const struct exchange *x, const char *name, void (*see)(void *data, uint64_t n), void *data)
{
	int fd = run_open_dir_at(x->fd, name, false);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	uint64_t n;

	if (!dir) {
		int r = fd < 0 ? fd : -errno;

		close_fd(&fd);
		return r;
	}
	for (struct dirent *e; (e = readdir(dir));)
		if (str_to_uint(str_of(e->d_name), &n) && n && e->d_name[0] != '0')
			see(data, n);
	(void)closedir(dir);
	return 0;
}

static void see_highest(void *data, uint64_t n)
{
	uint64_t *highest = data;

	*highest = MAX(*highest, n);
}

uint64_t exchange_last_input(const struct exchange *x)
{
	uint64_t last = 0;

	(void)numbers(x, "in", see_highest, &last);
	return last;
}

int exchange_epoch(const struct exchange *x, uint64_t *ret_epoch, uint64_t *ret_size)
{
	char name[64];
	struct stat st;

	*ret_epoch = *ret_size = 0;
	int r = numbers(x, "driver", see_highest, ret_epoch);
	if (r < 0 || !*ret_epoch)
		return r;
	(void)snprintf(name, sizeof(name), "driver/%" PRIu64, *ret_epoch);
	AUTO_CLOSE int fd = run_open_at(x->fd, name, O_RDONLY);
	if (fd >= 0 && fstat(fd, &st) == 0)
		*ret_size = (uint64_t)st.st_size;
	return 0;
}

int exchange_epoch_take(const struct exchange *x, struct str who, uint64_t *ret_epoch)
{
	char name[64];
	uint64_t size;

	for (int i = 0; i < 100; i++) {
		int r = exchange_epoch(x, ret_epoch, &size);

		if (r < 0)
			return r;
		++*ret_epoch;
		(void)snprintf(name, sizeof(name), "driver/%" PRIu64, *ret_epoch);
		AUTO_CLOSE int fd = run_open_at(x->fd, name, O_WRONLY | O_CREAT | O_EXCL);
		if (fd == -EEXIST)
			continue;
		r = fd < 0 ? fd : fd_write_all(fd, who);
		return r < 0 ? r : fsync(fd) < 0 ? -errno : 0;
	}
	return -EAGAIN;
}

/* -- workers -------------------------------------------------------------------------------------
 */

static int make_file(int dir, const char *name, struct str text, mode_t mode)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	if (fd < 0)
		return errno == EEXIST ? 0 : -errno;
	int r = fd_write_all(fd, text);
	(void)fchmod(fd, mode);
	close_fd(&fd);
	return r;
}

int exchange_worker_make(const struct exchange *x, uint64_t id, uint64_t epoch, struct str script)
{
	static const char *const empty[] = { "job", "fence", "records", "log" };
	char name[64];

	(void)snprintf(name, sizeof(name), "w/%" PRIu64, id);
	AUTO_CLOSE int dir = run_open_dir_at(x->fd, name, true);
	int r = MIN(dir, 0);
	for (size_t i = 0; i < ARRAY_SIZE(empty) && r == 0; i++)
		r = make_file(dir, empty[i], S(""), 0600);
	(void)snprintf(name, sizeof(name), "orders.%" PRIu64, epoch);
	r = r < 0 ? r : make_file(dir, name, S(""), 0600);
	r = r < 0 || !script.len ? r : make_file(dir, "script", script, 0700);
	if (r == 0)
		(void)fsync(dir);
	return r;
}

struct ids {
	VEC(uint64_t) list;
};

static void see_id(void *data, uint64_t n)
{
	struct ids *ids = data;

	vec_push(&ids->list, n);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int exchange_workers(const struct exchange *x, void (*see)(void *data, uint64_t id), void *data)
{
	struct ids ids = { 0 };
	int r = numbers(x, "w", see_id, &ids);

	if (ids.list.len)
		qsort(ids.list.at, ids.list.len, sizeof(uint64_t), by_number);
	vec_each (id, &ids.list)
		see(data, *id);
	vec_done(&ids.list);
	return r;
}

int exchange_claim(const struct exchange *x, uint64_t id, struct str text)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/claim", id);
	AUTO_CLOSE int fd = run_open_at(x->fd, name, O_WRONLY | O_CREAT | O_EXCL);
	int r = fd < 0 ? fd : fd_write_all(fd, text);
	return r < 0 ? r : fsync(fd) < 0 ? -errno : 0;
}
