// Embeds the manifest of a plugin of the stable tier and its documents in the .so. The host reads them without running code of the plugin.
//
//   BP_MANIFEST("plugin.json")                          // once, in one source
//   BP_EMBED(shop_group, "group.json", "group.json")    // BP_EMBEDDED(shop_group) is its bytes, a bp_str
//
// Files are looked up in the folders of -I. The assembler reads the files, so a build that must notice a changed file declares it as a
// dependency.
#ifndef BACKPLANE_STABLE_MANIFEST_H
#define BACKPLANE_STABLE_MANIFEST_H

#include "backplane/stable/abi.h"
#include "backplane/stable/base.h"

// The note has the owner "Backplane" and the type 2. Its description is a bp_stable_note_head, followed by `json_size` bytes of JSON.
#define BP_STABLE_NOTE_TYPE 2
#define BP_STABLE_NOTE_MAGIC "BPSTABLE"

typedef struct bp_stable_note_head {
  char magic[8];       // without a NUL
  uint32_t head_size;  // of this struct
  uint32_t abi;        // BP_STABLE_ABI
  uint32_t json_size;
  uint32_t reserved[3];  // 0
} bp_stable_note_head;

#define BP_TEXT_OF_(number) #number
#define BP_TEXT_OF(number) BP_TEXT_OF_(number)

#define BP_MANIFEST(file) \
  __asm__(                                               \
      ".pushsection .note.backplane.plugin,\"a\",%note\n" \
      ".balign 4\n"                                      \
      ".long 10, 93f-91f, 2\n"                           \
      ".asciz \"Backplane\"\n"                           \
      ".balign 4\n"                                      \
      "91: .ascii \"BPSTABLE\"\n"                        \
      ".long 32, " BP_TEXT_OF(BP_STABLE_ABI) ", 94f-92f, 0, 0, 0\n" \
      "92: .incbin \"" file "\"\n"                       \
      "94: .balign 4\n"                                  \
      "93:\n"                                            \
      ".popsection\n");

#ifdef __cplusplus
#define BP_EXTERN_ extern "C"
#else
#define BP_EXTERN_ extern
#endif

// Embeds a file in the format in which `backplane plugin check` reads documents.
#define BP_EMBED(symbol, name, file)                                    \
  __asm__(                                                              \
      ".pushsection .backplane.documents,\"a\",%progbits\n"             \
      ".balign 16\n"                                                    \
      ".ascii \"BPDOCUMT\"\n"                                           \
      ".long 92f-91f, 93f-92f\n"                                        \
      "91: .asciz \"" name                                              \
      "\"\n"                                                            \
      "92: " #symbol                                                    \
      ":\n"                                                             \
      ".incbin \"" file                                                 \
      "\"\n"                                                            \
      "93: " #symbol                                                    \
      "_end:\n"                                                         \
      ".byte 0\n"                                                       \
      ".balign 16\n"                                                    \
      ".popsection\n");                                                 \
  BP_EXTERN_ __attribute__((visibility("hidden"))) const char symbol[]; \
  BP_EXTERN_ __attribute__((visibility("hidden"))) const char symbol##_end[];

// Returns the bytes of an embedded file.
static inline bp_str bp_bytes_between(const char* begin, const char* end) {
  bp_str bytes;
  bytes.data = begin;
  bytes.size = (size_t)(end - begin);
  return bytes;
}
#define BP_EMBEDDED(symbol) bp_bytes_between(symbol, symbol##_end)

#endif
