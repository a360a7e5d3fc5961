// SPDX-License-Identifier: GPL-2.0-or-later
/* table.c - aligned columns. Cells must be safe for terminals already. */
#include "smcctl.h"

void table_init(struct table *t, size_t n_cols, const char *const *titles, uint32_t right)
{
	*t = (struct table){ .n_cols = n_cols, .right = right };
	for (size_t i = 0; i < n_cols; i++)
		text_add(table_cell(t), "%s", titles[i]);
}

void table_done(struct table *t)
{
	for (size_t i = 0; i < t->size; i++)
		text_done(&t->cells[i]);
	free(t->cells);
	*t = (struct table){ 0 };
}

/* The last slot catches what is written when memory is out, so that callers need no check. */
struct text *table_cell(struct table *t)
{
	if (t->n_cells + 1 >= t->size) {
		size_t size = t->size ? 2 * t->size : 64;
		struct text *cells = reallocarray(t->cells, size, sizeof(*cells));

		if (!cells) {
			t->failed = true;
			if (!t->size)
				abort(); /* not even the first few hundred bytes */
			return &t->cells[t->size - 1];
		}
		memset(cells + t->size, 0, (size - t->size) * sizeof(*cells));
		t->cells = cells;
		t->size = size;
	}
	return &t->cells[t->n_cells++];
}

static const char *cell_str(const struct text *cell)
{
	return cell->len ? cell->s : "-";
}

/* Columns of a terminal, taking each code point for one. */
static size_t shown_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void pad(struct text *out, size_t n)
{
	text_add(out, "%*s", (int)n, "");
}

static void add_row(const struct table *t, const size_t *width, size_t row, struct text *out)
{
	for (size_t i = 0; i < t->n_cols; i++) {
		const char *s = cell_str(&t->cells[row * t->n_cols + i]);
		size_t space = width[i] - shown_width(s);

		if (i)
			text_add(out, "  ");
		if (t->right & (1u << i))
			pad(out, space);
		text_add(out, "%s", s);
		if (!(t->right & (1u << i)) && i + 1 < t->n_cols)
			pad(out, space);
	}
	/* A last cell of blanks (no bar) leaves nothing behind. */
	while (out->len && out->s[out->len - 1] == ' ')
		out->s[--out->len] = '\0';
	text_add(out, "\n");
}

void table_render(const struct table *t, struct text *out)
{
	size_t width[TABLE_COLUMNS_MAX] = { 0 };

	if (t->failed || t->n_cols > ARRAY_SIZE(width)) {
		out->failed = true;
		return;
	}
	for (size_t i = 0; i < t->n_cells; i++) {
		size_t w = shown_width(cell_str(&t->cells[i]));

		out->failed |= t->cells[i].failed;
		if (w > width[i % t->n_cols])
			width[i % t->n_cols] = w;
	}
	for (size_t row = 0; row < t->n_cells / t->n_cols; row++)
		add_row(t, width, row, out);
}
