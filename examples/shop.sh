#!/bin/sh
# Makes a small repository `shop` that the examples of docs/library.md look at. Dates are fixed, so its commits are the
# same wherever it is made.
set -eu

git init -q -b main shop
cd shop
export GIT_AUTHOR_EMAIL=ada@example.org GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org

commit() {
	git add -A
	GIT_AUTHOR_NAME=$1 GIT_AUTHOR_DATE=$2 GIT_COMMITTER_DATE=$2 git -c commit.gpgsign=false commit -qm "$3"
}

mkdir src dist
printf '# Shop\n\nSells soup.\n' >README.md
printf 'dist/\n' >.gitignore
printf 'int price(void)\n{\n\treturn 3; // TODO: ask the cook\n}\n' >src/price.c
commit Ada 2024-01-05T12:00:00Z 'shop: a price'
git branch old-idea

printf 'one bowl\r\ntwo bowls\r\n' >menu.txt
printf 'user = "cook"\npassword = "leek-and-potato"\n' >shop.ini
commit Bob 2024-02-10T12:00:00Z 'menu: bowls'
git tag v1.0

printf 'int price(int bowls)\n{\n\treturn 3 * bowls; // TODO: ask the cook\n}\n' >src/price.c
commit Ada 2024-03-20T12:00:00Z 'shop: more than one bowl'
cp menu.txt menu-copy.txt
commit Ada 2024-03-21T12:00:00Z 'keep a copy of the menu'

printf 'soup\n' >dist/soup.bin
printf 'spoon\n' >dist/spoon.bin
touch menu.txt.orig
