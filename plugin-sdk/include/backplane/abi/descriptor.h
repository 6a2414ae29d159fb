/* The descriptor of a plugin: an ELF note that tools can read without running code of the file.
 *
 * The note (owner "Backplane", type 1) is in the section .note.backplane.plugin.  Its description is one bp_note_head, in the byte
 * order of the machine, followed by `json_size` bytes of canonical JSON (keys sorted, no white space).  The JSON describes the plugin
 * (name, version, provides, requires, order); the head describes its build: the compiler that built the plugin sets each field.
 *
 * Thread-safety: constants only.
 * Stability:     the fields of the head are never reordered. New fields replace reserved ones; head_size is the size of the head with
 *                which a plugin was compiled.
 */
#ifndef BACKPLANE_DESCRIPTOR_H
#define BACKPLANE_DESCRIPTOR_H

#include <stdint.h>

/* Version of the SDK, 0x00MMmmpp (docs/plugins.md).  A plugin runs on a host whose SDK has the same major version as the plugin's SDK, and
 * the same or a later minor version. While the major version is 0, the minor version must be the same. */
#define BACKPLANE_SDK_VERSION_MAJOR 0
#define BACKPLANE_SDK_VERSION_MINOR 1
#define BACKPLANE_SDK_VERSION_PATCH 0
#define BACKPLANE_SDK_VERSION ((BACKPLANE_SDK_VERSION_MAJOR << 16) | (BACKPLANE_SDK_VERSION_MINOR << 8) | BACKPLANE_SDK_VERSION_PATCH)

/* A fork with a different SDK builds its host and plugins with a different tag. The host refuses plugins with another tag. */
#ifndef BACKPLANE_VENDOR_TAG
#define BACKPLANE_VENDOR_TAG "backplane"
#endif

#define BP_NOTE_SECTION ".note.backplane.plugin"
#define BP_NOTE_OWNER "Backplane" /* with its NUL: 10 bytes, padded to 12 */
#define BP_NOTE_TYPE 1u
#define BP_NOTE_MAGIC "BPPLUGIN" /* 8 bytes, no NUL */
#define BP_MAX_JSON_SIZE 65536u
#define BP_ENTRY_ABI 1u /* version of the signature of backplane_plugin_create() */
#define BP_ENTRY_SYMBOL "backplane_plugin_create"

/* bp_note_head.compiler */
#define BP_COMPILER_GCC 1u
#define BP_COMPILER_CLANG 2u
/* bp_note_head.stdlib */
#define BP_STDLIB_LIBSTDCXX 1u
#define BP_STDLIB_LIBCXX 2u
/* bp_note_head.stdlib_flags: the first two change the layout of types and must be equal in host and plugin; BP_STDLIB_ASSERTIONS is
 * informational */
#define BP_STDLIB_CXX11_ABI 0x1u
#define BP_STDLIB_DEBUG 0x2u
#define BP_STDLIB_ASSERTIONS 0x4u
/* bp_note_head.language */
#define BP_LANGUAGE_EXCEPTIONS 0x1u
#define BP_LANGUAGE_RTTI 0x2u
/* bp_note_head.sanitizers */
#define BP_SANITIZE_ADDRESS 0x1u
#define BP_SANITIZE_THREAD 0x2u
#define BP_SANITIZE_MEMORY 0x4u

/* bp_note_head.contracts: one fingerprint for each folder of backplane/, in this order. `host` consists of host.hpp and plugin.hpp. The
 * fingerprint of `points` covers only the headers that the plugin includes. */
#define BP_CONTRACT_FOLDERS \
  { "core", "types", "points", "rest", "net", "host" }
#define BP_CONTRACTS 6
#define BP_USES_CORE 0x1u
#define BP_USES_TYPES 0x2u
#define BP_USES_POINTS 0x4u
#define BP_USES_REST 0x8u
#define BP_USES_NET 0x10u
#define BP_USES_HOST 0x20u
#define BP_USES_ALL 0x3fu
/* bp_note_head.points: one bit for each header of backplane/points, in the order of BACKPLANE_SDK_POINTS (abi/contract.h). */
#define BP_POINTS_ALL 0xffffffffu

/* bp_note_head.documents */
#define BP_DOCUMENTS_CHECKED 0x1u

typedef struct bp_note_head {
  char magic[8];
  uint16_t head_size; /* size of this struct when the plugin was built */
  uint16_t head_version;
  uint32_t json_size;
  uint32_t sdk_version;
  uint32_t entry_abi;
  uint32_t gxx_abi; /* __GXX_ABI_VERSION: the Itanium C++ ABI's revision */
  uint16_t compiler;
  uint16_t compiler_major; /* informational */
  uint16_t stdlib;
  uint16_t stdlib_release; /* informational */
  uint32_t stdlib_flags;
  uint32_t boost_version; /* BOOST_VERSION */
  uint32_t reserved1;     /* 0; formerly for the macros of Asio, whose types host and plugins no longer exchange */
  uint32_t language;
  uint32_t sanitizers;
  uint16_t pointer_bits;
  uint16_t reserved0[3];
  uint64_t layout_fingerprint; /* FNV-1a over size and alignment of types of the language, the C++ library, Boost and backplane/core */
  char vendor[16];
  uint64_t reserved2; /* 0; formerly one fingerprint of all headers */
  uint32_t documents; /* BP_DOCUMENTS_CHECKED: backplane_add_plugin() has checked the documents in the file */
  /* Fingerprints of the declarations in each folder of headers; 0: the plugin does not use the folder. The fingerprint of the folder
   * `points` covers the headers in the field `points`. */
  uint32_t contracts[6];
  uint32_t points; /* bits of the headers of backplane/points that the plugin uses; each header is an extension point */
} bp_note_head;

/* This section contains the files of backplane_add_plugin(… SCHEMAS). Each begins at a multiple of 16 bytes and consists of a
 * bp_document_head, the name with its NUL, and the bytes. */
#define BP_DOCUMENT_SECTION ".backplane.documents"
#define BP_DOCUMENT_MAGIC "BPDOCUMT" /* 8 bytes, no NUL */

typedef struct bp_document_head {
  char magic[8];
  uint32_t name_size; /* including the NUL */
  uint32_t size;
} bp_document_head;

#endif
