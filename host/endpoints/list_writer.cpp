#include "endpoints/list_writer.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/origin_executor.hpp"
#include "base/spent_time.hpp"
#include "base/yield.hpp"
#include "endpoints/audit_notes.hpp"
#include "endpoints/body_writer.hpp"
#include "endpoints/errors.hpp"
#include "endpoints/handler_span.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/table_rows.hpp"
#include "endpoints/verb_options.hpp"

namespace backplane::endpoints {
namespace {

// How a list is written.
struct Plan {
  MediaType media;
  Presentation as;
  TableForm form;  // used if the response is a table
  ListFacts facts;
  ListTexts texts;

  bool is_table() const noexcept { return media.shape == Shape::kTable; }
  std::string_view items_key() const noexcept { return is_table() ? "rows" : "items"; }
};

// Collects one item in a text, for items that are converted before they are written.
class TextSink final : public ItemSink {
 private:
  void share(SharedBytes bytes) override { text_.append(bytes.view()); }
};

// Returns the texts of a table: those of an empty list, in which columnDefinitions and rows replace the items.
Result<ListTexts> table_texts(const Plan& plan) {
  auto made = plan.media.codec->list(plan.as, plan.facts, {});
  if (!made.ok()) return made;
  constexpr std::string_view kItems = "\"items\":[";
  std::string head = std::move(made->head);
  head.resize(head.size() - kItems.size());
  head.append("\"columnDefinitions\":");
  append_columns(head, *plan.form.convertor);
  head.append(",\"rows\":");
  // If a kind has no printer, upstream's default printer writes null instead of an empty list.
  const bool none = plan.form.convertor == &default_table_convertor();
  made->empty = none ? head + "null" + made->tail.substr(1) : head + "[" + made->tail;
  made->head = head.append("[");
  return made;
}

// Returns the texts of a list in YAML. Members are sorted, and items are a block sequence.
ListTexts yaml_texts(const ListTexts& json, std::string_view items) {
  json::error_code error;
  Value list = json::parse(json.empty, error);
  ListTexts texts;
  if (error || !list.is_object()) return texts;
  std::vector<std::string_view> keys;
  for (const auto& member : list.get_object()) keys.push_back(member.key());
  std::sort(keys.begin(), keys.end());
  bool after = false;
  for (const std::string_view key : keys) {
    after = after || key == items;
    if (key == items) continue;
    std::string& out = after ? texts.tail : texts.head;
    out.append(to_yaml(Object{{key, list.get_object()[key]}}));
  }
  const bool none = list.get_object()[items].is_null();
  texts.empty = texts.head + std::string(items) + (none ? ": null\n" : ": []\n") + texts.tail;
  texts.head.append(items).append(":\n");
  return texts;
}

Result<ListTexts> make_texts(const Plan& plan, const ListMeasure& measure) {
  auto texts = plan.is_table() ? table_texts(plan) : plan.media.codec->list(plan.as, plan.facts, measure);
  if (texts.ok() && plan.media.shape == Shape::kMetadataList && plan.media.codec->is_text()) {
    // Upstream writes null instead of an empty list.
    const auto none = texts->empty.rfind("\"items\":[]");
    if (none != std::string::npos) texts->empty.replace(none, std::string_view("\"items\":[]").size(), "\"items\":null");
  }
  if (texts.ok() && plan.media.yaml) return yaml_texts(*texts, plan.items_key());
  return texts;
}

Result<Plan> make_plan(const Resource& resource, const RequestContext& context, const MediaType& media, const ListResult& list) {
  Plan plan;
  plan.media = media;
  plan.as = media.presentation(resource.schema);
  plan.facts = {resource.list_kind, resource.api_version, list.revision, list.continue_token, list.remaining};
  if (media.shape == Shape::kMetadata) {
    return not_acceptable("you requested PartialObjectMetadata, but the requested object is a list (" + resource.go_type(true) + ")");
  }
  if (media.shape == Shape::kMetadataList) {
    plan.facts.kind = "PartialObjectMetadataList";
    plan.facts.api_version = media.meta_version();
  } else if (media.shape == Shape::kTable) {
    auto form = table_form(context.info.query, media, *resource.table, resource.schema);
    if (!form.ok()) return std::move(form.status());
    plan.form = *form;
    // The order of a table's members is defined by its type, not by its rows.
    plan.as = form->presentation;
    plan.facts.kind = "Table";
    plan.facts.api_version = media.meta_version();
  }
  return plan;
}

Status append_item(const Plan& plan, const ObjectEntry& entry, ItemSink& out) {
  if (!plan.is_table()) return plan.media.codec->item(plan.as, entry, out);
  append_row(out.text(), entry, plan.form);
  return {};
}

Status write_item(const Plan& plan, const ObjectEntry& entry, BodyWriter& out) {
  if (!plan.media.yaml) return append_item(plan, entry, out);
  TextSink item;
  item.text().push_back('[');
  Status status = append_item(plan, entry, item);
  out.text().append(yaml_of(item.text().append("]")));
  return status;
}

// Returns true if the item must be encoded, which takes time in proportion to its length. Returns false if its encoded bytes exist and are
// shared.
bool is_made(const Plan& plan, const ObjectEntry& entry) {
  if (plan.is_table() || plan.media.yaml || plan.media.indented() || plan.as.metadata_only) return true;
  return !plan.media.codec->is_text() && entry.form(*plan.media.codec) == nullptr;
}

// Limits the work between two yields to other requests of the loop to some tenths of a millisecond.
class WorkPortion {
 public:
  explicit WorkPortion(const Plan& plan) : plan_(plan), most_(plan.media.yaml ? kYaml : plan.is_table() ? kRows : kItems) {}

  // Counts an item before it is written.
  void add(const ObjectEntry& entry) { done_ += 1 + entry.json_size() / (is_made(plan_, entry) ? kMadeBytes : kSharedBytes); }
  // Returns true if enough work has been done since the last yield. The next add() then starts a new portion.
  bool over() {
    // The size of an object does not determine the cost of its table row, so tables also have a time limit.
    const bool late = plan_.is_table() && Clock::now() >= until_;
    if (done_ < most_ && !late) return false;
    done_ = 0;
    return true;
  }
  void begin() {
    if (plan_.is_table()) until_ = Clock::now() + kTime;
  }

 private:
  using Clock = std::chrono::steady_clock;
  // numbers of items; each kMadeBytes or kSharedBytes of an item count as another item
  static constexpr std::size_t kYaml = 16, kRows = 64, kItems = 256;
  static constexpr std::size_t kMadeBytes = 4 * 1024, kSharedBytes = 64 * 1024;
  static constexpr std::chrono::microseconds kTime{500};
  const Plan& plan_;
  const std::size_t most_;
  std::size_t done_ = 0;
  Clock::time_point until_ = Clock::now() + kTime;
};

// Reads the items of a list in batches. Each read resumes on the executor of the first read.
class Batches {
 public:
  explicit Batches(ListResult& list) : list_(list) {}
  Task<Result<std::span<const ObjectEntry* const>>> next() {
    auto reading = list_.items->next();
    auto batch = co_await std::move(reading);
    co_await origin_;
    co_return batch;
  }

 private:
  ListResult& list_;
  const OriginExecutor origin_;
};

// Prefetches the entries and the first bytes of the following items, which are scattered in memory.
void fetch_ahead(std::span<const ObjectEntry* const> batch, std::size_t at) {
  constexpr std::size_t kObjects = 8, kBytes = 4;
  if (at + kObjects < batch.size()) __builtin_prefetch(batch[at + kObjects]);
  if (at + kBytes < batch.size()) batch[at + kBytes]->prefetch_json();
}

// Reads all items, and yields between portions of work. Calls visitor.begin() after the first batch has been read, visitor.visit() for each
// item, and visitor.empty() whenever visitor.full() is true.
// Errors:        those of the cursor and of the visitor.
template <class Visitor>
Task<Status> walk(const Plan& plan, ListResult& list, Visitor& visitor) {
  Batches batches(list);
  auto reading = batches.next();
  auto batch = co_await std::move(reading);
  if (!batch.ok()) co_return std::move(batch.status());
  visitor.begin();
  WorkPortion portion(plan);
  while (!batch->empty()) {
    for (std::size_t i = 0; i < batch->size(); ++i) {
      const ObjectEntry& entry = *(*batch)[i];
      fetch_ahead(*batch, i);
      portion.add(entry);
      Status visited = visitor.visit(entry);
      if (!visited.ok()) co_return visited;
      if (portion.over()) {
        co_await Yield{};
        portion.begin();
      }
      if (!visitor.full()) continue;
      Status emptied = co_await visitor.empty();
      if (!emptied.ok()) co_return emptied;
    }
    reading = batches.next();
    batch = co_await std::move(reading);
    if (!batch.ok()) co_return std::move(batch.status());
  }
  co_return Status();
}

// Measures the items for codecs that need the sum before they write the first item.
class Measurer {
 public:
  // `holds`: the cursor cannot be rewound, so the items are stored.
  Measurer(const Plan& plan, bool holds) : plan_(plan), holds_(holds) {}
  void begin() {}
  Status visit(const ObjectEntry& entry) {
    if (holds_) held_.push_back(std::make_shared<const ObjectEntry>(entry));
    return plan_.media.codec->measure(plan_.as, entry, sum_);
  }
  bool full() const noexcept { return false; }
  Task<Status> empty() { co_return Status(); }
  const ListMeasure& sum() const noexcept { return sum_; }
  std::vector<ObjectRef> take_held() noexcept { return std::move(held_); }

 private:
  const Plan& plan_;
  const bool holds_;
  ListMeasure sum_;
  std::vector<ObjectRef> held_;
};

Task<Result<ListMeasure>> measure_items(const Plan& plan, ListResult& list) {
  if (!plan.media.codec->measures_lists()) co_return ListMeasure();
  // If the cursor cannot be rewound, the items are stored.
  const bool again = list.items->rewind();
  Measurer measurer(plan, !again);
  auto walking = walk(plan, list, measurer);
  Status walked = co_await std::move(walking);
  if (!walked.ok()) co_return walked;
  if (again) {
    list.items->rewind();
  } else {
    list.items = make_cursor(measurer.take_held());
  }
  co_return measurer.sum();
}

// Sorts the items of a table whose convertor requires it (sorts_rows()). All items are in memory during the sort; such tables are short.
Task<Status> sort_rows(const Plan& plan, ListResult& list) {
  const TableConvertor* const table = plan.is_table() ? plan.form.convertor : nullptr;
  if (table == nullptr || !table->sorts_rows()) co_return Status();
  Batches batches(list);
  std::vector<std::pair<std::int64_t, ObjectRef>> held;
  for (;;) {
    auto reading = batches.next();
    auto batch = co_await std::move(reading);
    if (!batch.ok()) co_return std::move(batch.status());
    if (batch->empty()) break;
    for (const ObjectEntry* entry : *batch) {
      held.emplace_back(table->row_position(decode(*entry, json::storage_ptr())), std::make_shared<const ObjectEntry>(*entry));
    }
    co_await Yield{};
  }
  std::stable_sort(held.begin(), held.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ObjectRef> items;
  items.reserve(held.size());
  for (auto& [place, item] : held) items.push_back(std::move(item));
  list.items = make_cursor(std::move(items));
  co_return Status();
}

// Encodes the list as JSON for the audit event, independently of the encoding of the response.
class AuditedList {
 public:
  explicit AuditedList(const Plan& plan) : plan_(plan) {
    plan_.media.codec = &json_codec();
    plan_.media.yaml = plan_.media.pretty = false;
    auto texts = make_texts(plan_, ListMeasure());
    if (texts.ok()) plan_.texts = std::move(*texts);
  }
  void add(const ObjectEntry& entry) {
    json_.text().append(std::exchange(begun_, true) ? plan_.texts.separator : std::string_view(plan_.texts.head));
    // ItemsWriter::visit() reports an item that cannot be encoded to the client.
    (void)append_item(plan_, entry, json_).ok();
  }
  SharedBytes end() {
    json_.text().append(begun_ ? plan_.texts.tail : plan_.texts.empty);
    return SharedBytes(std::move(json_.text()));
  }

 private:
  Plan plan_;
  TextSink json_;
  bool begun_ = false;
};

// Writes the response: the head, the items, the tail.
class ItemsWriter {
 public:
  ItemsWriter(RequestContext& context, Exchange& exchange, const MediaType& media, const Plan& plan)
      : context_(context), exchange_(exchange), media_(media), plan_(plan) {
    if (audits(context, AuditLevel::kRequestResponse)) audited_.emplace(plan);
  }

  void begin() {
    add_warning_headers(context_, exchange_);
    exchange_.set_compressible(true);
    out_.emplace(exchange_, 200, media_.content_type(), media_.indented());
  }
  Status visit(const ObjectEntry& entry) {
    if (audited_) audited_->add(entry);
    out_->text().append(std::exchange(begun_, true) ? plan_.texts.separator : std::string_view(plan_.texts.head));
    return write_item(plan_, entry, *out_);
  }
  bool full() const noexcept { return out_->full(); }
  Task<Status> empty() {
    Status sent = co_await out_->flush();
    gone_ = !sent.ok();
    co_return sent;
  }
  // True if the client has disconnected.
  bool gone() const noexcept { return gone_; }
  Task<Status> end() {
    out_->text().append(begun_ ? plan_.texts.tail : plan_.texts.empty);
    if (audited_) context_.audit->response_object = audited_->end();
    Status sent = co_await out_->finish();
    co_return sent;
  }

 private:
  RequestContext& context_;
  Exchange& exchange_;
  const MediaType& media_;
  const Plan& plan_;
  std::optional<BodyWriter> out_;
  std::optional<AuditedList> audited_;
  bool begun_ = false;
  bool gone_ = false;
};

}  // namespace

Task<Status> send_list(const Resource& resource, RequestContext& context, Exchange& exchange, MediaType media, ListResult list) {
  auto plan = make_plan(resource, context, media, list);
  if (!plan.ok()) co_return std::move(plan.status());
  if (list.items == nullptr) list.items = make_cursor({});
  auto sorting = sort_rows(*plan, list);
  Status sorted = co_await std::move(sorting);
  if (!sorted.ok()) co_return sorted;
  auto measuring = measure_items(*plan, list);
  auto measure = co_await std::move(measuring);
  if (!measure.ok()) co_return std::move(measure.status());
  auto texts = make_texts(*plan, *measure);
  if (!texts.ok()) co_return std::move(texts.status());
  plan->texts = std::move(*texts);
  TraceSpan span(&context, "SerializeObject", SpanKind::kInternal, TraceSpan::Use::kExported);
  describe_serialization(span, context, exchange, media);
  const SpentTime spent(context, &RequestLatencies::serialization);
  ItemsWriter writer(context, exchange, media, *plan);
  auto writing = walk(*plan, list, writer);
  Status written = co_await std::move(writing);
  if (!written.ok()) co_return writer.gone() ? Status() : written;
  auto ending = writer.end();
  Status sent = co_await std::move(ending);
  span.step(sent.ok() ? "Write call succeeded" : "Write call failed");
  if (!sent.ok()) exchange.abort();
  co_return Status();
}

}  // namespace backplane::endpoints
