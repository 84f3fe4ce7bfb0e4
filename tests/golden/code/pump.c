/* 水泵 */
#include <stdio.h>

#define TWICE(x) \
	x; \
	x

typedef struct {
	int level;
} gauge_t;

struct valve {
	const char *name;
};

/* Opens it. */
static const char **
open_valve(struct valve *v, int slowly)
{
	return &v->name;
}

int main(void)
{
	return 0;
}
