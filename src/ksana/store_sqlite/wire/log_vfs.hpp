#pragma once

namespace ksana::store_sqlite {

// Returns the name of the VFS for all connections; null if it could not be registered. It checks
// what is read (page_file.hpp), and buffers the log of a connection with FileOptions::gather_log:
// of the one that writes, only with synchronous=FULL.
//
// SQLite writes every page of a commit to the log by two calls, its header of 24 bytes and the
// page, and a commit has dozens of pages: these calls cost as much as all other work of the kernel
// for the commit. The VFS buffers consecutive writes and does them in a few calls. It flushes the
// buffer before SQLite syncs the file (with FULL at the end of every commit, before other
// connections see its pages), reads it, asks for its size, or closes it. Data that is lost when the
// process ends before that belongs to no commit.
//
// All other files are those of the default VFS.
const char* KsanaVfs();

}  // namespace ksana::store_sqlite
