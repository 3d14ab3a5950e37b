#include "apps/ksana/toolkit/item_view.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "apps/ksana/toolkit/table.hpp"
#include "ksana/base/text/escape.hpp"
#include "ksana/base/text/utf8.hpp"

namespace ksana::app {
namespace {

using codec::Json;

// Turns "/schedule/cron" into "schedule.cron".
std::string DottedName(std::string_view pointer) {
    std::string name(pointer.substr(std::min<std::size_t>(1, pointer.size())));
    std::replace(name.begin(), name.end(), '/', '.');
    return name;
}

std::string UpperCase(std::string text) {
    for (char& c : text) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    return text;
}

// Keeps only the members at `fields`, in that order.
Json Projected(const Json& item, const std::vector<std::string>& fields) {
    if (fields.empty()) return item;
    Json made = Json::Object();
    for (const std::string& field : fields) {
        if (item.Has(field)) made = made.With(field, item.At(field));
    }
    return made;
}

Cell CellOf(const Column& column, const Json& item, const Style& style) {
    const std::string text = column.make ? column.make(item, style) : item.TextAt(column.pointer);
    if (column.kind == Column::Kind::kTime) return {style.Time(text)};
    if (column.kind == Column::Kind::kState) return {text, HueOf(text)};
    return {text};
}

// Returns whether the API uses this name for times. A value that is no time is printed unchanged.
bool IsTimeName(std::string_view pointer) {
    constexpr std::array<std::string_view, 8> kEndings = {"_at",   "_until", "/at",    "/now",
                                                          "/from", "/until", "/first", "/last"};
    return std::any_of(kEndings.begin(), kEndings.end(),
                       [pointer](std::string_view ending) { return pointer.ends_with(ending); });
}

void AddChosen(ApiSession& session, const std::vector<Json>& items) {
    std::vector<Title> titles;
    for (const std::string& field : session.style.fields) {
        titles.push_back({UpperCase(DottedName(field)), titles.empty()});
    }
    Table table(std::move(titles));
    for (const Json& item : items) {
        std::vector<Cell> row;
        for (const std::string& field : session.style.fields) {
            row.push_back({MemberText(item.At(field), field, session.style)});
        }
        table.Add(std::move(row));
    }
    session.output.out += table.Text(session.style, session.process.terminal.out);
}

void AddTable(ApiSession& session, const ItemView& view, const std::vector<Json>& items) {
    if (!session.style.fields.empty()) return AddChosen(session, items);
    // -o wide shows everything, so nothing is cut.
    const bool cut = session.process.terminal.out && session.style.format != Format::kWide;
    session.output.out += TableOf(view.columns, items, session.style).Text(session.style, cut);
}

// Appends one line for each member, with dotted names for nested ones; skips empty members.
void Flatten(const Json& value, const std::string& pointer, const Style& style,
             std::vector<std::pair<std::string, Cell>>& lines) {
    if (value.IsObject()) {
        for (const auto& [name, member] : value.Members()) {
            Flatten(member, pointer + PointerStep(name), style, lines);
        }
        return;
    }
    const std::string text = MemberText(value, pointer, style);
    if (text.empty()) return;
    const bool is_state = pointer.ends_with("state") || pointer.ends_with("outcome");
    lines.push_back({DottedName(pointer), {text, is_state ? HueOf(text) : Hue::kNone}});
}

}  // namespace

Table TableOf(std::span<const Column> columns, const std::vector<Json>& items, const Style& style) {
    const bool wide = style.format == Format::kWide;
    std::vector<Title> titles;
    for (const Column& column : columns) {
        if (!wide && column.wide) continue;
        // The first column is an id to copy; half a state or time is useless. Neither is cut.
        const bool firm = titles.empty() || column.kind != Column::Kind::kText;
        titles.push_back({std::string(column.title), firm});
    }
    Table table(std::move(titles));
    for (const Json& item : items) {
        std::vector<Cell> row;
        for (const Column& column : columns) {
            if (wide || !column.wide) row.push_back(CellOf(column, item, style));
        }
        table.Add(std::move(row));
    }
    return table;
}

std::string MemberText(const Json& value, std::string_view pointer, const Style& style) {
    if (value.IsText()) return IsTimeName(pointer) ? style.Time(value.Text()) : value.Text();
    if (value.IsArray()) {
        std::string text;
        for (const Json& item : value.Items()) {
            text += text.empty() ? "" : ", ";
            text += item.Text();
        }
        return text;
    }
    if (value.IsObject()) {
        std::string text;
        for (const auto& [name, member] : value.Members()) {
            text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, member.Text());
        }
        return text;
    }
    return value.Text();
}

void ShowItems(ApiSession& session, const ItemView& view, const std::vector<Json>& items,
               const Json& whole) {
    const Style& style = session.style;
    switch (style.format) {
        case Format::kJson: {
            std::vector<Json> chosen;
            for (const Json& item : items) chosen.push_back(Projected(item, style.fields));
            const bool all = style.fields.empty() || !whole.Has("/items");
            const Json shown = all ? whole : whole.With("/items", Json::Array(chosen));
            session.output.out += shown.Pretty() + "\n";
            return;
        }
        case Format::kJsonLines:
            for (const Json& item : items) {
                session.output.out += Projected(item, style.fields).Compact() + "\n";
            }
            return;
        case Format::kName:
            for (const Json& item : items) {
                session.output.out += Printable(item.TextAt(view.name_pointer)) + "\n";
            }
            return;
        case Format::kTable:
        case Format::kWide:
            break;
    }
    if (items.empty()) return session.Note(fmt::format("There are no {}.", view.noun));
    AddTable(session, view, items);
}

void ShowList(ApiSession& session, const ItemView& view, const client::ApiList& list) {
    ShowItems(session, view, list.items, list.AsPage());
    if (!list.next_cursor.empty() && session.style.format != Format::kJson) {
        session.Note(
            fmt::format("There are more than these {}: --all, or --limit N.", list.items.size()));
    }
}

void ShowOne(ApiSession& session, const Json& item, std::string_view name_pointer) {
    const Style& style = session.style;
    const Json shown = Projected(item, style.fields);
    if (style.format == Format::kJson) {
        session.output.out += shown.Pretty() + "\n";
    } else if (style.format == Format::kJsonLines) {
        session.output.out += shown.Compact() + "\n";
    } else if (style.format == Format::kName) {
        session.output.out += Printable(item.TextAt(name_pointer)) + "\n";
    } else {
        std::vector<std::pair<std::string, Cell>> lines;
        Flatten(shown, "", style, lines);
        std::size_t width = 0;
        for (const auto& [name, cell] : lines) width = std::max(width, TextWidth(name));
        for (const auto& [name, cell] : lines) {
            session.output.out += style.Paint(Hue::kHead, Printable(name));
            session.output.out.append(width + 2 - TextWidth(name), ' ');
            session.output.out += style.Paint(cell.hue, Printable(cell.text)) + "\n";
        }
    }
}

void ShowChange(ApiSession& session, const Json& thing, std::string_view sentence) {
    if (session.style.IsTable() && session.style.fields.empty()) {
        session.output.out += Printable(sentence) + "\n";
    } else {
        ShowOne(session, thing);
    }
}

}  // namespace ksana::app
