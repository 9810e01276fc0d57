/* Put before a program with LD_PRELOAD: what waits for the disk under a write-ahead log is
   counted (one byte each in DISK_COUNT), held up while DISK_HOLD is there, and fails while
   DISK_FAIL is. While DISK_FULL is there, nothing can be written to a log or a database. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static int ends_with(int number, const char *ending)
{
    char name[64], path[4096];
    size_t size = strlen(ending);
    snprintf(name, sizeof name, "/proc/self/fd/%d", number);
    ssize_t length = readlink(name, path, sizeof path - 1);
    return length >= (ssize_t)size && memcmp(path + length - size, ending, size) == 0;
}

static int disk(int number)
{
    if (!ends_with(number, "-wal"))
        return 0;
    int count = open(getenv("DISK_COUNT"), O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (write(count, "x", 1) != 1)
        return -1;
    close(count);
    while (access(getenv("DISK_HOLD"), F_OK) == 0)
        usleep(1000);
    if (access(getenv("DISK_FAIL"), F_OK) == 0) {
        errno = EIO;
        return -1;
    }
    return 0;
}

int fdatasync(int number) { return disk(number) ? -1 : (int)syscall(SYS_fdatasync, number); }

int fsync(int number) { return disk(number) ? -1 : (int)syscall(SYS_fsync, number); }

ssize_t pwrite64(int number, const void *data, size_t size, off64_t where)
{
    if (access(getenv("DISK_FULL"), F_OK) == 0
        && (ends_with(number, "-wal") || ends_with(number, ".db"))) {
        errno = ENOSPC;
        return -1;
    }
    return syscall(SYS_pwrite64, number, data, size, where);
}

ssize_t pwrite(int number, const void *data, size_t size, off_t where)
{
    return pwrite64(number, data, size, where);
}
