#include "app/artifacts.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/record/freeze.h"
#include "base/file.h"
#include "runs/dir/manifest.h"

void artifacts_each(struct run_handle *h, artifact_fn *see, void *data)
{
	AUTO_JSON *status = run_status_document(h);
	const char *name;
	json_t *entry;

	json_object_foreach(json_object_get(status, "manifest"), name, entry)
	{
		const struct artifact a = {
			.name = str_of(name),
			.path = json_str(json_object_get(entry, "path")),
			.exists = json_is_true(json_object_get(entry, "exists")),
			.facts = entry,
		};

		if (!see(data, &a))
			return;
	}
}

int artifact_open(struct run_handle *h, struct str name, struct report *r)
{
	AUTO_JSON *status = run_status_document(h);
	const json_t *entry =
		json_object_getn(json_object_get(status, "manifest"), name.p, name.len);
	AUTO_BUF path = BUF_INIT;
	struct stat st;

	if (!entry) {
		report_refuse(r, run_id(h), "no such artifact",
			"the run '%.*s' declares no artifact '%.*s'", STR(run_id(h)), STR(name));
		report_action(r, ACTION_STATUS, run_id(h));
		return -1;
	}
	AUTO_JSON *files = freeze_artifacts(run_dir(h), json_object_get(status, "artifacts"), NULL);
	struct str shown = json_text_of(entry, "path");
	const json_t *file = json_object_getn(files, name.p, name.len);
	manifest_resolve(
		file ? json_str(file) : shown, json_str(json_object_get(status, "cwd")), &path);
	int fd = open(buf_cstr(&path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0) {
		report_errno(
			r, errno, "cannot open the artifact '%.*s', %.*s", STR(name), STR(shown));
		return -1;
	}
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return fd;
	close_fd(&fd);
	report_error(r, (struct where){ 0 }, "the artifact '%.*s', %.*s, is not a regular file",
		STR(name), STR(shown));
	return -1;
}
