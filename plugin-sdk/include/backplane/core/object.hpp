// One immutable revision of one object, as every reader and watcher shares it.
//
// Thread-safety: immutable but for forms that are added; any number of threads.
// Lifetime:      shared; kept by caches, event logs and requests as long as each needs it.
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
#include "backplane/core/revision.hpp"
#include "backplane/core/selectors.hpp"
#include "backplane/core/visibility.hpp"

namespace backplane BACKPLANE_API {

// What a watcher is told of a revision.
enum class EventType : unsigned char { kAdded, kModified, kDeleted, kBookmark, kError };

class Codec;

// An object in one media type: windows into one buffer, which may be the whole watch frame of the event that the revision came with.
struct EncodedForm {
  SharedBytes bytes;
  std::uint32_t whole = 0;  // [whole, whole + whole_size): as GET answers it
  std::uint32_t whole_size = 0;
  std::uint32_t item = 0;  // [item, item + item_size): as a list holds it
  std::uint32_t item_size = 0;
};

// The identity of an object, what selectors ask of it, its JSON, and a slot for its form in every other media type: such a form is made
// when it is first asked for (Codec) and then shared by everybody who reads or watches the object.
//
// Whoever makes an entry fills it before sharing it; from then on only slots are added, without a lock.
class ObjectEntry {
 public:
  ObjectEntry() = default;
  // The same object to be changed before it is shared; slots stay behind.
  ObjectEntry(const ObjectEntry& other);
  ObjectEntry& operator=(const ObjectEntry&) = delete;
  ~ObjectEntry();

  std::string key;  // storage key; empty for objects that are not stored (Status, Scale, dry run)
  std::string ns;
  std::string name;
  Revision revision = 0;            // printed as metadata.resourceVersion
  Labels labels;                    // sorted by key
  std::vector<std::string> fields;  // values of the resource's declared selectable fields, in declaration order

  // Canonical JSON, kind and apiVersion first, resourceVersion in place, no trailing newline.
  const SharedBytes& json() const noexcept { return json_; }
  // Where the list item form begins: json[0] is '{', and '{' + json.substr(item_offset) is the object without kind and apiVersion.
  // 0: list items are printed whole (custom resources).
  std::uint32_t item_offset() const noexcept { return item_offset_; }
  // The JSON of an entry that stands in no watch frame.
  void set_json(SharedBytes json, std::uint32_t item_offset = 0);
  // … of one that does: `frame` is the frame of an event of `type`, and the object is [begin, begin + size) of it.
  void set_json_in_frame(const SharedBytes& frame, std::size_t begin, std::size_t size, std::uint32_t item_offset, EventType type);

  // The event this revision came with, whose frame is made once for everybody; nothing when there was none.
  std::optional<EventType> event() const noexcept { return framed_ ? std::optional<EventType>(event_) : std::nullopt; }
  // The frame around json() for that event; empty without one.
  SharedBytes json_frame() const { return framed_ ? json_.whole() : SharedBytes(); }

  // The form that `codec` has made; null when nobody has asked for it yet.
  const EncodedForm* form(const Codec& codec) const noexcept;
  // Gives `form` to everybody.  The result is what everybody has: another thread's, if that was faster.
  const EncodedForm& publish(const Codec& codec, EncodedForm form) const;

  // The object in another version, as `view` has made it: nothing when nobody has asked for it yet, null when it is this entry itself.
  std::optional<std::shared_ptr<const ObjectEntry>> version(const std::shared_ptr<const void>& view) const;
  // Gives `object` (null: this entry itself) to everybody who asks as `view`.  A few views that live have their place; further ones share
  // nothing, and the place of one that has gone is the next one's.  The result is what everybody has: another thread's, if that was faster.
  std::shared_ptr<const ObjectEntry> publish_version(const std::shared_ptr<const void>& view,
                                                     std::shared_ptr<const ObjectEntry> object) const;

 private:
  struct Slot;
  struct Versions;
  SharedBytes json_;
  std::uint32_t item_offset_ = 0;
  bool framed_ = false;
  EventType event_ = EventType::kAdded;
  mutable std::atomic<const Slot*> slots_{nullptr};
  mutable std::atomic<Versions*> versions_{nullptr};
};
using ObjectRef = std::shared_ptr<const ObjectEntry>;

// The same object in another version or shape: everything of `entry` but its JSON and its forms.
ObjectRef with_json(const ObjectEntry& entry, std::string json, std::uint32_t item_offset = 0);

// A tree of the object's JSON in `storage`.
Object decode(const ObjectEntry& entry, json::storage_ptr storage);
// An entry that is not stored, from a tree in canonical form.
ObjectRef make_object(const Object& tree);

// Inserts "resourceVersion":"N" into canonical JSON without one (built-ins: after uid, or where it stands in ObjectMeta's order;
// sorted: in key order).  A present value is replaced.
std::string splice_resource_version(std::string_view json, Revision revision, bool sorted_keys);

}  // namespace BACKPLANE_API
