// Object entries, and the insertion of a resource version into stored bytes without building a tree.
#include "backplane/core/object.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <utility>

#include "backplane/core/meta.hpp"
#include "backplane/types/json_reading.hpp"
#include "engine/codec.hpp"
#include "engine/raw_json.hpp"

namespace backplane BACKPLANE_API {
namespace {

// Scans JSON that this server has written, which is therefore valid.  If the scan reaches the end of the text, splice_resource_version()
// does not change the text.
class Scanner {
 public:
  explicit Scanner(std::string_view text) noexcept : text_(text) {}

  std::size_t at() const noexcept { return at_; }
  bool ended() const noexcept { return at_ >= text_.size(); }
  char peek() const noexcept { return ended() ? '\0' : text_[at_]; }
  bool take(char letter) noexcept {
    if (peek() != letter) return false;
    ++at_;
    return true;
  }
  // Returns the string at this position without its quotes; escapes are not decoded.
  std::string_view string() noexcept {
    const std::size_t first = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    const std::string_view out = text_.substr(first, std::min(at_, text_.size()) - first);
    ++at_;
    return out;
  }
  // Skips one value.
  void skip_value() noexcept {
    int depth = 0;
    while (!ended()) {
      const char letter = text_[at_];
      if (letter == '"') {
        string();
        if (depth == 0) return;
        continue;
      }
      if (letter == '{' || letter == '[') {
        ++depth;
      } else if (letter == '}' || letter == ']') {
        if (depth == 0) return;  // the end of the enclosing object or list; the value is a number or a literal
        if (--depth == 0) {
          ++at_;
          return;
        }
      } else if (letter == ',' && depth == 0) {
        return;
      }
      ++at_;
    }
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

// True if `key` precedes resourceVersion in the order of the object's members.
bool before_version(std::string_view key, bool sorted_keys) noexcept {
  if (sorted_keys) return key < "resourceVersion";
  static constexpr std::array<std::string_view, 5> kBefore = {"name", "generateName", "namespace", "selfLink", "uid"};
  return std::find(kBefore.begin(), kBefore.end(), key) != kBefore.end();
}

// Where to insert the new member, and the size of the old member that it replaces.
struct Splice {
  std::size_t at = 0;
  std::size_t drop = 0;
  bool comma_before = false;
  bool comma_after = false;
  bool whole_metadata = false;  // metadata is missing and must be inserted too
};

// Precondition: `scanner` is at the '{' of metadata.
Splice splice_into_metadata(Scanner& scanner, bool sorted_keys) {
  scanner.take('{');
  Splice out;
  out.at = scanner.at();
  while (scanner.peek() == '"') {
    const std::size_t start = scanner.at();
    const std::string_view key = scanner.string();
    scanner.take(':');
    scanner.skip_value();
    if (key == "resourceVersion") {
      out.at = start;
      out.drop = scanner.at() - start;
      out.comma_before = out.comma_after = false;
      return out;
    }
    if (!before_version(key, sorted_keys)) {
      out.comma_after = !out.comma_before;
      return out;
    }
    out.at = scanner.at();
    out.comma_before = true;
    if (!scanner.take(',')) break;
  }
  return out;
}

Splice find_splice(std::string_view json, bool sorted_keys) {
  Scanner scanner(json);
  Splice missing;
  missing.whole_metadata = true;
  if (!scanner.take('{')) return missing;
  missing.at = scanner.at();
  while (scanner.peek() == '"') {
    const std::size_t start = scanner.at();
    const std::string_view key = scanner.string();
    scanner.take(':');
    if (key == "metadata" && scanner.peek() == '{') return splice_into_metadata(scanner, sorted_keys);
    const bool leads = sorted_keys ? key < "metadata" : key == "kind" || key == "apiVersion";
    if (!leads) {
      missing.at = start;
      missing.comma_after = true;
      missing.comma_before = false;
      return missing;
    }
    scanner.skip_value();
    missing.at = scanner.at();
    missing.comma_before = true;
    if (!scanner.take(',')) break;
  }
  return missing;
}

Labels read_labels(const Object& tree) {
  Labels out;
  const Value* labels = find_path(tree, {"metadata", "labels"});
  if (labels == nullptr || !labels->is_object()) return out;
  for (const auto& label : labels->get_object()) {
    if (label.value().is_string()) out.emplace_back(std::string(label.key()), std::string(label.value().get_string()));
  }
  std::sort(out.begin(), out.end());
  return out;
}

// True if `key` ends with the namespace (unless it is empty), "/" and the name.
bool ends_with_path(std::string_view key, std::string_view ns, std::string_view name) noexcept {
  if (!key.ends_with(name)) return false;
  key.remove_suffix(name.size());
  if (ns.empty()) return true;
  return key.ends_with('/') && key.substr(0, key.size() - 1).ends_with(ns);
}

// Returns the offset of the members after kind and apiVersion; 0 if the object does not begin with these two members.
std::uint32_t find_item_offset(const Object& tree, std::string_view json) {
  if (tree.size() < 3 || tree.begin()->key() != "kind" || std::next(tree.begin())->key() != "apiVersion") return 0;
  Scanner scanner(json);
  scanner.take('{');
  for (int member = 0; member < 2; ++member) {
    scanner.string();
    scanner.take(':');
    scanner.skip_value();
    scanner.take(',');
  }
  return static_cast<std::uint32_t>(scanner.at());
}

}  // namespace

struct ObjectEntry::Slot {
  const Codec* codec;
  EncodedForm form;
  const Slot* next;
};

// The conversions of the entry, by view (rest/resource_config.hpp).  A view of a custom resource may be destroyed; its slot is then reused.
struct ObjectEntry::Versions {
  struct Made {
    std::weak_ptr<const void> view;
    ObjectRef object;
    // Compares the control blocks, because the address of a destroyed view may be reused.
    bool by(const std::shared_ptr<const void>& asking) const noexcept { return !view.owner_before(asking) && !asking.owner_before(view); }
  };
  const Made* find(const std::shared_ptr<const void>& view) const noexcept {
    const auto found = std::find_if(made.begin(), made.end(), [&](const Made& each) { return each.by(view); });
    return found == made.end() ? nullptr : &*found;
  }

  std::mutex mutex;  // guards the members below
  std::vector<Made> made;
};

ObjectEntry::ObjectEntry(const ObjectEntry& other)
    : revision(other.revision),
      frame_(other.frame_),
      key_size_(other.key_size_),
      ns_size_(other.ns_size_),
      name_size_(other.name_size_),
      labels_at_(other.labels_at_),
      fields_at_(other.fields_at_),
      item_offset_(other.item_offset_),
      json_size_(other.json_size_),
      json_at_(other.json_at_),
      framed_(other.framed_),
      event_(other.event_),
      texts_(other.texts_) {}

ObjectEntry::~ObjectEntry() {
  const Slot* slot = slots_.load(std::memory_order_acquire);
  while (slot != nullptr) {
    slot->codec->held_.fetch_sub(slot->form.bytes.size(), std::memory_order_relaxed);
    delete std::exchange(slot, slot->next);
  }
  delete versions_.load(std::memory_order_acquire);
}

// Replaces [begin, end) of the texts by `size` bytes, which `append` appends.
template <class Append>
void ObjectEntry::replace_texts(std::size_t begin, std::size_t end, std::size_t size, const Append& append) {
  std::string texts;  // a new string: changing texts_ in place would give it spare capacity, and the appended bytes may be a view of texts_
  texts.reserve(texts_.size() - (end - begin) + size);
  texts.append(texts_, 0, begin);
  append(texts);
  texts.append(texts_, end);
  texts_ = std::move(texts);
}

void ObjectEntry::set_identity(std::string_view key, std::string_view ns, std::string_view name) {
  const std::size_t path = ns.size() + (ns.empty() ? 0 : 1) + name.size();
  const std::size_t size = key.size() + (ends_with_path(key, ns, name) ? 0 : path);
  replace_texts(0, labels_at_, size, [&](std::string& out) {
    out.append(key);
    if (size == key.size()) return;
    if (!ns.empty()) out.append(ns).push_back('/');
    out.append(name);
  });
  fields_at_ = static_cast<std::uint32_t>(fields_at_ - labels_at_ + size);
  labels_at_ = static_cast<std::uint32_t>(size);
  key_size_ = static_cast<std::uint32_t>(key.size());
  ns_size_ = static_cast<std::uint32_t>(ns.size());
  name_size_ = static_cast<std::uint32_t>(name.size());
}

void ObjectEntry::set_labels(const Labels& labels) {
  std::size_t size = 0;
  for (const auto& [key, value] : labels) size += packed_size(key) + packed_size(value);
  replace_texts(labels_at_, fields_at_, size, [&](std::string& out) {
    for (const auto& [key, value] : labels) append_packed(out, key), append_packed(out, value);
  });
  fields_at_ = static_cast<std::uint32_t>(labels_at_ + size);
}

void ObjectEntry::set_fields(const std::vector<std::string>& values) {
  std::size_t size = 0;
  for (const std::string& value : values) size += packed_size(value);
  replace_texts(fields_at_, texts_.size(), size, [&](std::string& out) {
    for (const std::string& value : values) append_packed(out, value);
  });
}

void ObjectEntry::set_json(SharedBytes json, std::uint32_t item_offset) {
  json_at_ = 0;
  json_size_ = static_cast<std::uint32_t>(json.size());
  frame_ = std::move(json);
  item_offset_ = item_offset;
  framed_ = false;
}

void ObjectEntry::set_json_in_frame(const SharedBytes& frame, std::size_t begin, std::size_t size, std::uint32_t item_offset,
                                    EventType type) {
  frame_ = frame;
  json_at_ = static_cast<std::uint16_t>(begin);
  json_size_ = static_cast<std::uint32_t>(size);
  item_offset_ = item_offset;
  framed_ = true;
  event_ = type;
}

const EncodedForm* ObjectEntry::form(const Codec& codec) const noexcept {
  for (const Slot* slot = slots_.load(std::memory_order_acquire); slot != nullptr; slot = slot->next) {
    if (slot->codec == &codec) return &slot->form;
  }
  return nullptr;
}

const EncodedForm& ObjectEntry::publish(const Codec& codec, EncodedForm form) const {
  auto made = std::make_unique<Slot>(Slot{&codec, std::move(form), slots_.load(std::memory_order_acquire)});
  do {
    if (const EncodedForm* faster = this->form(codec)) return *faster;
  } while (!slots_.compare_exchange_weak(made->next, made.get(), std::memory_order_acq_rel, std::memory_order_acquire));
  codec.held_.fetch_add(made->form.bytes.size(), std::memory_order_relaxed);
  return made.release()->form;
}

std::optional<ObjectRef> ObjectEntry::version(const std::shared_ptr<const void>& view) const {
  Versions* versions = versions_.load(std::memory_order_acquire);
  if (versions == nullptr) return std::nullopt;
  const std::lock_guard lock(versions->mutex);
  const Versions::Made* made = versions->find(view);
  return made != nullptr ? std::optional(made->object) : std::nullopt;
}

ObjectRef ObjectEntry::publish_version(const std::shared_ptr<const void>& view, ObjectRef object) const {
  // A kind has two or three versions at a time. After a change of the kind, the views before the change exist for a short time too.
  constexpr std::size_t kMostVersions = 4;
  Versions* versions = versions_.load(std::memory_order_acquire);
  if (versions == nullptr) {
    auto fresh = std::make_unique<Versions>();
    if (versions_.compare_exchange_strong(versions, fresh.get(), std::memory_order_acq_rel, std::memory_order_acquire))
      versions = fresh.release();
  }
  std::vector<Versions::Made> gone;  // destroyed after the lock is released
  const std::lock_guard lock(versions->mutex);
  if (const Versions::Made* made = versions->find(view)) return made->object;
  const auto first = std::partition(versions->made.begin(), versions->made.end(), [](const auto& each) { return !each.view.expired(); });
  gone.assign(std::make_move_iterator(first), std::make_move_iterator(versions->made.end()));
  versions->made.erase(first, versions->made.end());
  if (versions->made.size() < kMostVersions) versions->made.push_back({view, object});
  return object;
}

ObjectRef with_json(const ObjectEntry& entry, std::string json, std::uint32_t item_offset) {
  auto changed = std::make_shared<ObjectEntry>(entry);
  changed->set_json(SharedBytes(std::move(json)), item_offset);
  return changed;
}

Object decode(const ObjectEntry& entry, json::storage_ptr storage) {
  std::optional<Value> value = read_json(entry.json().view(), std::move(storage));
  if (!value || !value->is_object()) throw UnreadableObject(std::string(entry.key().empty() ? entry.name() : entry.key()));
  return std::move(value->get_object());
}

ObjectRef make_object(const Object& tree) {
  auto entry = std::make_shared<ObjectEntry>();
  std::string text;
  if (append_kept_json(text, tree)) {
    set_kept_json(*entry, SharedBytes(std::move(text)));
    text = to_json(tree);
  }
  entry->set_identity({}, meta_namespace(tree), meta_name(tree));
  for (char digit : meta_text(tree, "resourceVersion")) {
    if (digit < '0' || digit > '9') break;
    entry->revision = entry->revision * 10 + (digit - '0');
  }
  entry->set_labels(read_labels(tree));
  const std::uint32_t item_offset = find_item_offset(tree, text);
  entry->set_json(SharedBytes(std::move(text)), item_offset);
  return entry;
}

std::string splice_resource_version(std::string_view json, Revision revision, bool sorted_keys) {
  const Splice splice = find_splice(json, sorted_keys);
  std::string out;
  out.reserve(json.size() + 64);
  out.append(json.substr(0, splice.at));
  if (splice.comma_before) out.push_back(',');
  if (splice.whole_metadata) out.append("\"metadata\":{");
  out.append("\"resourceVersion\":\"").append(std::to_string(revision)).push_back('"');
  if (splice.whole_metadata) out.push_back('}');
  if (splice.comma_after) out.push_back(',');
  out.append(json.substr(std::min(splice.at + splice.drop, json.size())));
  return out;
}

}  // namespace BACKPLANE_API
