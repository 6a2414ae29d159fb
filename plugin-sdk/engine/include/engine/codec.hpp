// A codec encodes objects, lists, watch events and stored values in one media type.
//
// An object entry has JSON from the beginning; every other codec encodes an entry at first use and stores the bytes in the
// entry's slot. A further media type is a further implementation of Codec; callers do not change.
//
// Thread-safety: codecs have no state except a counter; any number of threads.
// Lifetime:      codecs live as long as the process.
// Errors:        kNotAcceptable: objects of this type cannot be encoded in the media type; kInternalError: stored bytes cannot be decoded.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/bytes.hpp"
#include "backplane/core/object.hpp"
#include "backplane/core/status.hpp"
#include "backplane/core/visibility.hpp"
#include "backplane/types/schema.hpp"

namespace backplane BACKPLANE_API {

// The shape of the objects of one response.
struct Presentation {
  const Schema* schema = nullptr;  // the type of the objects; every codec except JSON requires it
  bool metadata_only = false;      // PartialObjectMetadata
  bool beta = false;               // … of meta.k8s.io/v1beta1 instead of v1

  std::string_view meta_version() const noexcept { return beta ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1"; }
  bool custom() const noexcept { return schema != nullptr && schema->structural(); }
};

// A list without its items.
struct ListFacts {
  std::string_view kind;
  std::string_view api_version;
  Revision revision = 0;
  std::string_view continue_token;
  std::optional<std::int64_t> remaining;
};
// The number and the size of a list's items, which a codec with measures_lists() needs before it writes the first byte.
struct ListMeasure {
  std::size_t items = 0;
  std::size_t bytes = 0;  // the size of the encoded items, with their framing in the list
};
// The bytes around and between items.
struct ListTexts {
  std::string head;
  std::string_view separator;
  std::string tail;
  std::string empty;  // replaces head and tail if the list has no item
};

// Receives the items of a list: small ones are copied into one text, large ones are shared.
class ItemSink {
 public:
  virtual ~ItemSink();
  // The output of small items is appended to this text.
  std::string& text() noexcept { return text_; }
  // `window` lies in `bytes`.
  void put(const SharedBytes& bytes, std::string_view window) {
    if (window.size() < kShareBytes) {
      text_.append(window);
    } else {
      share(bytes.slice(static_cast<std::size_t>(window.data() - bytes.view().data()), window.size()));
    }
  }

  // Pieces of at least this size are shared instead of copied.
  static constexpr std::size_t kShareBytes = 16 * 1024;

 protected:
  virtual void share(SharedBytes bytes) = 0;
  std::string text_;
};

class Codec {
 public:
  virtual ~Codec();

  virtual std::string_view name() const noexcept = 0;         // "json": the name of the stored form in a backend
  virtual std::string_view media_type() const noexcept = 0;   // Content-Type of objects and lists
  virtual std::string_view stream_type() const noexcept = 0;  // … and of watches
  virtual bool is_text() const noexcept = 0;                  // messages of a WebSocket are text, not binary
  virtual bool can_write(const Presentation& as) const noexcept = 0;

  // ---- one object, as in the response to a GET: pieces are appended to `out`
  virtual Status object(const Presentation& as, const ObjectEntry& entry, std::vector<SharedBytes>& out) const = 0;

  // ---- lists
  // Whether head and separators depend on the measure of the items; if so, the caller walks over the items twice.
  virtual bool measures_lists() const noexcept = 0;
  virtual Status measure(const Presentation& as, const ObjectEntry& entry, ListMeasure& sum) const = 0;
  virtual Result<ListTexts> list(const Presentation& as, const ListFacts& facts, const ListMeasure& measure) const = 0;
  virtual Status item(const Presentation& as, const ObjectEntry& entry, ItemSink& out) const = 0;

  // ---- watches: one event as encoded in the stream, pieces appended to `out`
  virtual Status frame(const Presentation& as, EventType type, const ObjectEntry& entry, std::vector<SharedBytes>& out) const = 0;
  // The number of bytes at the beginning of a frame that only delimit it; they are omitted if messages have their own framing (WebSocket).
  virtual std::size_t frame_prefix() const noexcept { return 0; }

  // ---- the stored form: an object of a built-in kind without resourceVersion.  `json` is canonical.
  // Whether this codec wrote the stored bytes, by their prefix.
  virtual bool wrote(std::string_view stored) const noexcept = 0;
  // The version of stored bytes, if their prefix has it.
  virtual GroupVersionKind stored_kind(std::string_view) const { return {}; }
  virtual Result<std::string> to_stored(const Schema* schema, std::string json) const = 0;
  virtual Result<std::string> from_stored(const Schema* schema, std::string_view stored) const = 0;

  // Bytes in the slots of all entries of the process: for metrics.
  std::size_t held_bytes() const noexcept { return held_.load(std::memory_order_relaxed); }

 private:
  friend class ObjectEntry;
  mutable std::atomic<std::size_t> held_{0};
};

const Codec& json_codec();
const Codec& protobuf_codec();
const Codec& cbor_codec();
// The codecs that a server offers to clients, JSON first.  `cbor`: CBOR is the last of them (RequestContext::offers_cbor).
const std::vector<const Codec*>& codecs(bool cbor);
// The codec of that name, offered or not; null for an unknown name.
const Codec* find_codec(std::string_view name) noexcept;

// The text around the JSON of an object in a frame of the watch stream.
std::string_view json_frame_head(EventType type) noexcept;
std::string_view json_frame_tail() noexcept;

// metadata of `entry` as PartialObjectMetadata: JSON, in the order of ObjectMeta, not the object's.
void append_metadata_json(std::string& out, const ObjectEntry& entry, const Presentation& as);

}  // namespace BACKPLANE_API
