// Preloaded into a server: while the file named by FAIL_SYNC_WHILE exists, every fsync fails.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static int failing(void) {
  const char* const file = getenv("FAIL_SYNC_WHILE");
  return file != NULL && access(file, F_OK) == 0;
}

static int call(const char* name, int fd) {
  if (failing()) {
    errno = EIO;
    return -1;
  }
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
  return real(fd);
}

int fsync(int fd) { return call("fsync", fd); }
int fdatasync(int fd) { return call("fdatasync", fd); }
