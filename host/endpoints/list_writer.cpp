#include "endpoints/list_writer.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "endpoints/body_writer.hpp"
#include "endpoints/errors.hpp"
#include "endpoints/metadata_only.hpp"
#include "endpoints/respond.hpp"
#include "endpoints/table_rows.hpp"
#include "endpoints/verb_options.hpp"

namespace backplane::endpoints {
namespace {

struct Member {
  std::string_view key;
  std::string json;
};

// A list without its items: members in JSON's order, of which the one at `items` is the growing list.
struct Frame {
  std::vector<Member> members;
  std::size_t items = 0;
};

using AppendItem = void (*)(std::string& out, const ObjectEntry& entry, const TableForm& form);

void append_plain(std::string& out, const ObjectEntry& entry, const TableForm&) { entry.append_item(out); }
void append_metadata(std::string& out, const ObjectEntry& entry, const TableForm& form) {
  append_metadata_only(out, entry, form.version, form.sorted_keys);
}

std::string quoted_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

// ListMeta; custom resources print an empty continue, and sort.
std::string list_meta(const ListResult& list, bool custom) {
  const std::string version = "\"resourceVersion\":\"" + std::to_string(list.revision) + "\"";
  const std::string token = "\"continue\":" + quoted_json(list.continue_token);
  const std::string remaining = list.remaining ? "\"remainingItemCount\":" + std::to_string(*list.remaining) : std::string();
  const auto& first = custom ? token : version;
  const auto& second = custom ? remaining : list.continue_token.empty() ? std::string() : token;
  const auto& third = custom ? version : remaining;
  std::string out = "{" + first;
  if (!second.empty()) out.append(",").append(second);
  if (!third.empty()) out.append(",").append(third);
  return out.append("}");
}

Frame plain_frame(const Resource& resource, const ListResult& list) {
  Member kind{"kind", quoted_json(resource.list_kind)};
  Member version{"apiVersion", quoted_json(resource.api_version)};
  Member meta{"metadata", list_meta(list, resource.custom)};
  Frame frame;
  if (resource.custom) {
    frame.members = {std::move(version), {"items", ""}, std::move(kind), std::move(meta)};
    frame.items = 1;
  } else {
    frame.members = {std::move(kind), std::move(version), std::move(meta), {"items", ""}};
    frame.items = 3;
  }
  return frame;
}

Frame metadata_frame(const ListResult& list, const MediaType& media) {
  Frame frame;
  frame.members = {{"kind", "\"PartialObjectMetadataList\""},
                   {"apiVersion", quoted_json(media.meta_version())},
                   {"metadata", list_meta(list, false)},
                   {"items", ""}};
  frame.items = 3;
  return frame;
}

Frame table_frame(const ListResult& list, const TableForm& form) {
  std::string columns;
  append_columns(columns, *form.convertor);
  Frame frame;
  frame.members = {{"kind", "\"Table\""},
                   {"apiVersion", quoted_json(form.version)},
                   {"metadata", list_meta(list, false)},
                   {"columnDefinitions", std::move(columns)},
                   {"rows", ""}};
  frame.items = 4;
  return frame;
}

// The text around and between items, in the encoding that is sent.
struct Texts {
  std::string head;
  std::string tail;
  std::string empty;  // in place of head and tail when there is no item
  std::string_view separator;
};

Texts json_texts(const Frame& frame) {
  Texts texts;
  texts.head = "{";
  texts.tail = "]";
  for (std::size_t i = 0; i < frame.members.size(); ++i) {
    std::string& out = i <= frame.items ? texts.head : texts.tail;
    if (i > 0) out.push_back(',');
    out.append("\"").append(frame.members[i].key).append("\":");
    out.append(i == frame.items ? "[" : frame.members[i].json);
  }
  texts.tail.append("}\n");
  texts.empty = texts.head + texts.tail;
  texts.separator = ",";
  return texts;
}

Texts yaml_texts(Frame frame) {
  const std::string_view items = frame.members[frame.items].key;
  std::sort(frame.members.begin(), frame.members.end(), [](const Member& a, const Member& b) { return a.key < b.key; });
  Texts texts;
  bool after = false;
  for (const Member& member : frame.members) {
    if (member.key == items) {
      after = true;
      continue;
    }
    std::string& out = after ? texts.tail : texts.head;
    out.append(yaml_of("{\"" + std::string(member.key) + "\":" + member.json + "}"));
  }
  texts.empty = texts.head + std::string(items) + ": []\n" + texts.tail;
  texts.head.append(items).append(":\n");
  return texts;
}

struct Plan {
  Texts texts;
  AppendItem append = append_plain;
  TableForm form;
};

Result<Plan> make_plan(const Resource& resource, const Exchange& exchange, const MediaType& media, const ListResult& list) {
  Plan plan;
  Frame frame;
  plan.form.version = media.meta_version();
  plan.form.sorted_keys = resource.custom;
  switch (media.shape) {
    case Shape::kObject:
      frame = plain_frame(resource, list);
      break;
    case Shape::kMetadata:
      return not_acceptable("you requested PartialObjectMetadata, but the requested object is a list (" + resource.go_type(true) + ")");
    case Shape::kMetadataList:
      plan.append = append_metadata;
      frame = metadata_frame(list, media);
      break;
    case Shape::kTable: {
      auto form = table_form(request_query(exchange), media, *resource.table, resource.custom);
      if (!form.ok()) return std::move(form.status());
      plan.form = *form;
      plan.append = append_row;
      frame = table_frame(list, plan.form);
      break;
    }
  }
  plan.texts = media.encoding == Encoding::kYaml ? yaml_texts(std::move(frame)) : json_texts(frame);
  return plan;
}

// Large objects of plain JSON lists are not copied.
bool shares(const Plan& plan, const ObjectEntry& entry) noexcept {
  return plan.append == append_plain && entry.json.size() >= BodyWriter::kShareBytes;
}

void write_item(BodyWriter& out, const Plan& plan, const MediaType& media, const ObjectEntry& entry) {
  if (media.encoding == Encoding::kYaml) {
    std::string item = "[";
    plan.append(item, entry, plan.form);
    out.text().append(yaml_of(item.append("]")));
  } else if (shares(plan, entry)) {
    if (entry.item_offset != 0) out.text().push_back('{');
    out.share(entry.json.slice(entry.item_offset));
  } else {
    plan.append(out.text(), entry, plan.form);
  }
}

// The items of a list, from the head to the last one.
class ItemsWriter {
 public:
  ItemsWriter(BodyWriter& out, Plan plan, MediaType media) : out_(out), plan_(std::move(plan)), media_(std::move(media)) {}

  // Errors: the body writer's, when nobody is there any more.
  Task<Status> write(std::span<const ObjectEntry* const> batch) {
    for (const ObjectEntry* entry : batch) {
      out_.text().append(std::exchange(begun_, true) ? plan_.texts.separator : std::string_view(plan_.texts.head));
      write_item(out_, plan_, media_, *entry);
      if (!out_.full()) continue;
      Status sent = co_await out_.flush();
      if (!sent.ok()) co_return sent;
    }
    co_return Status();
  }
  void end() { out_.text().append(begun_ ? plan_.texts.tail : plan_.texts.empty); }

 private:
  BodyWriter& out_;
  const Plan plan_;
  const MediaType media_;
  bool begun_ = false;
};

}  // namespace

Task<Status> send_list(const Resource& resource, RequestContext& context, Exchange& exchange, MediaType media, ListResult list) {
  auto plan = make_plan(resource, exchange, media, list);
  if (!plan.ok()) co_return std::move(plan.status());
  if (list.items == nullptr) list.items = make_cursor({});
  auto reading = list.items->next();
  auto batch = co_await std::move(reading);
  if (!batch.ok()) co_return std::move(batch.status());
  add_warning_headers(context, exchange);
  exchange.set_compressible(true);
  BodyWriter out(exchange, 200, media.content_type(), media.pretty && media.encoding == Encoding::kJson);
  ItemsWriter writer(out, std::move(*plan), media);
  while (!batch->empty()) {
    auto writing = writer.write(*batch);
    Status written = co_await std::move(writing);
    if (!written.ok()) co_return Status();  // nobody is there to be told
    reading = list.items->next();
    batch = co_await std::move(reading);
    if (!batch.ok()) co_return std::move(batch.status());
  }
  writer.end();
  Status sent = co_await out.finish();
  if (!sent.ok()) exchange.abort();
  co_return Status();
}

}  // namespace backplane::endpoints
