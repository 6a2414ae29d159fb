// One immutable revision of one object, shared by every reader and every watcher of it.
//
// Thread-safety: immutable after it is shared, except that readers publish encodings and other versions in it (publish(),
//                publish_version()). Any number of threads may use it.
// Lifetime:      shared ownership; caches, event logs and requests hold references as long as they need them.
// Errors:        none, except std::bad_alloc; decode() throws UnreadableObject.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backplane/core/bytes.hpp"
#include "backplane/core/json.hpp"
#include "backplane/core/labels.hpp"
#include "backplane/core/revision.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// The type of a watch event (metav1.WatchEvent.type).
enum class EventType : unsigned char { kAdded, kModified, kDeleted, kBookmark, kError };

// Encodes objects in one media type (engine/codec.hpp).
class Codec;

// The encoding of an object in one media type: parts of one buffer. The buffer may be the whole watch frame of the event that created this
// revision.
struct EncodedForm {
  SharedBytes bytes;
  std::uint32_t whole = 0;  // bytes [whole, whole + whole_size) are the response to GET
  std::uint32_t whole_size = 0;
  std::uint32_t item = 0;  // bytes [item, item + item_size) are the item of a list
  std::uint32_t item_size = 0;
};

// An object's identity, the values that selectors compare, its JSON, and one slot for each other encoding. A Codec creates an encoding when
// a client first needs it; all later readers and watchers share it.
//
// The creator sets all members before it shares the entry. After that, only encodings and other versions are added.
//
// The texts other than the JSON are in one buffer without spare capacity. set_identity(), set_labels() and set_fields() rebuild the buffer,
// which invalidates views of it.
//
//   auto entry = std::make_shared<ObjectEntry>();
//   entry->set_identity("/registry/pods/default/web", "default", "web");
//   entry->set_labels({{"app", "web"}});
//   entry->set_json(SharedBytes(to_json(tree)));
//   return ObjectRef(std::move(entry));  // immutable from here on
class ObjectEntry {
 public:
  ObjectEntry() = default;
  // A copy, to be changed before it is shared. Encodings and other versions are not copied.
  ObjectEntry(const ObjectEntry& other);
  ObjectEntry& operator=(const ObjectEntry&) = delete;
  ~ObjectEntry();

  Revision revision = 0;  // serialized as metadata.resourceVersion

  // The storage key; empty for objects that are not stored (Status, Scale, dry run).
  std::string_view key() const noexcept { return text(0, key_size_); }
  std::string_view ns() const noexcept { return text(labels_at_ - name_size_ - ns_size_ - (ns_size_ != 0), ns_size_); }
  std::string_view name() const noexcept { return text(labels_at_ - name_size_, name_size_); }
  LabelsView labels() const noexcept { return LabelsView(text(labels_at_, fields_at_ - labels_at_)); }
  // The values of the resource's declared selectable fields, in the order of the declaration.
  FieldsView fields() const noexcept { return FieldsView(text(fields_at_, texts_.size() - fields_at_)); }
  // Call it only before the entry is shared.
  void set_identity(std::string_view key, std::string_view ns, std::string_view name);
  // `labels`: sorted by key. Call it only before the entry is shared.
  void set_labels(const Labels& labels);
  // Call it only before the entry is shared.
  void set_fields(const std::vector<std::string>& values);

  // Canonical JSON: kind and apiVersion first, with resourceVersion, without a trailing newline. A view of the result is valid as long as
  // the result.
  SharedBytes json() const { return frame_.slice(json_at_, json_size_); }
  std::size_t json_size() const noexcept { return json_size_; }
  // Prefetches the first bytes of the JSON into the CPU's caches, for a reader that needs them soon.
  void prefetch_json() const noexcept {
    constexpr std::size_t kLine = 64, kLines = 4;
    for (std::size_t line = 0; line < kLines; ++line) __builtin_prefetch(frame_.view().data() + json_at_ + line * kLine);
  }
  // The offset of the list item in the JSON: '{' + json.substr(item_offset) is the object without kind and apiVersion. 0 if list items
  // contain the whole object (custom resources).
  std::uint32_t item_offset() const noexcept { return item_offset_; }
  // Sets the JSON of an entry that no watch event created. Call it only before the entry is shared.
  void set_json(SharedBytes json, std::uint32_t item_offset = 0);
  // Sets the JSON of an entry that a watch event created: `frame` is the encoded event of type `type`, and bytes [begin, begin + size) of
  // it are the object. Call it only before the entry is shared. Precondition: begin < 65,536.
  void set_json_in_frame(const SharedBytes& frame, std::size_t begin, std::size_t size, std::uint32_t item_offset, EventType type);

  // The type of the watch event that created this revision; nullopt if no event created it.
  std::optional<EventType> event() const noexcept { return framed_ ? std::optional<EventType>(event_) : std::nullopt; }
  // The JSON watch frame of that event, encoded once for all watchers; empty if there is no event.
  SharedBytes json_frame() const { return framed_ ? frame_ : SharedBytes(); }

  // The encoding that `codec` has published; null if there is none yet.
  const EncodedForm* form(const Codec& codec) const noexcept;
  // Publishes an encoding for all readers. Returns the published encoding: `form`, or the encoding of another thread that published first.
  const EncodedForm& publish(const Codec& codec, EncodedForm form) const;

  // This object in another API version. `view` identifies the conversion of a view (a version that is not the stored one, see
  // rest/resource_config.hpp). Returns nullopt if nothing is published for `view`, and null if the converted object is this entry itself.
  std::optional<std::shared_ptr<const ObjectEntry>> version(const std::shared_ptr<const void>& view) const;
  // Publishes `object` (null: this entry itself) for all readers of `view`. Only a few live views get a slot, and the slot of a destroyed
  // view is reused; for a view without a slot, nothing is published. Returns the published object, or `object` if nothing was published; if
  // another thread published first, the object of that thread.
  std::shared_ptr<const ObjectEntry> publish_version(const std::shared_ptr<const void>& view,
                                                     std::shared_ptr<const ObjectEntry> object) const;

 private:
  struct Slot;
  struct Versions;
  std::string_view text(std::size_t at, std::size_t size) const noexcept { return {texts_.data() + at, size}; }
  template <class Append>
  void replace_texts(std::size_t begin, std::size_t end, std::size_t size, const Append& append);

  SharedBytes frame_;  // the watch frame, or only the JSON
  std::uint32_t key_size_ = 0;
  std::uint32_t ns_size_ = 0;
  std::uint32_t name_size_ = 0;
  std::uint32_t labels_at_ = 0;
  std::uint32_t fields_at_ = 0;
  std::uint32_t item_offset_ = 0;
  std::uint32_t json_size_ = 0;
  std::uint16_t json_at_ = 0;  // [json_at_, json_at_ + json_size_) of frame_
  bool framed_ = false;
  EventType event_ = EventType::kAdded;
  // The key; unless the key ends with them, the namespace, "/" and the name (only the name if there is no namespace); then packed labels
  // and packed field values.
  std::string texts_;
  mutable std::atomic<const Slot*> slots_{nullptr};
  mutable std::atomic<Versions*> versions_{nullptr};
};
// A shared reference. It is never null, unless the documentation of a function says so.
using ObjectRef = std::shared_ptr<const ObjectEntry>;

// Returns a new entry with the given JSON and all other data of `entry` except its encodings: the same object in another version or shape.
ObjectRef with_json(const ObjectEntry& entry, std::string json, std::uint32_t item_offset = 0);

// Parses the object's JSON into a tree in `storage`.
// Errors: throws UnreadableObject (types/json_reading.hpp) if the JSON is not an object.
Object decode(const ObjectEntry& entry, json::storage_ptr storage);
// Returns an entry for an object that is not stored (no key), from a tree in canonical order. The revision is that of
// metadata.resourceVersion, or 0.
ObjectRef make_object(const Object& tree);

// Returns `json` with "resourceVersion":"N" inserted, or with the present value replaced. It is inserted in ObjectMeta's order of members
// (built-in kinds), or in the order of the keys if `sorted_keys`.
std::string splice_resource_version(std::string_view json, Revision revision, bool sorted_keys);

}  // namespace BACKPLANE_API
