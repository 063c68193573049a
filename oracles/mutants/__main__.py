"""The commands of oracles/mutants.sh."""

import argparse

import plain
import report
import run
import tree


def shard(text):
    number, count = map(int, text.split("/"))
    if not 1 <= number <= count:
        raise argparse.ArgumentTypeError("expected K/N with K from 1 to N")
    return number, count


def main():
    parser = argparse.ArgumentParser(prog="oracles/mutants.sh")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="list the mutants and build the tests with all of them inside")
    asked = commands.add_parser("run", help="ask the tests about each mutant in the build")
    asked.add_argument("part", choices=tree.PARTS)
    asked.add_argument("--shard", type=shard, default=(1, 1), metavar="K/N")
    single = commands.add_parser("plain", help="the mutants that are not in the build, with cargo-mutants alone")
    single.add_argument("part", choices=tree.PARTS)
    sampled = commands.add_parser("sample", help="some of those in the build, with cargo-mutants alone")
    sampled.add_argument("count", type=int)
    commands.add_parser("report", help="write oracles/mutants.md")
    chosen = parser.parse_args()
    match chosen.command:
        case "build":
            tree.build()
        case "run":
            run.run(chosen.part, *chosen.shard)
        case "plain":
            plain.rest(chosen.part)
        case "sample":
            plain.sample(chosen.count)
        case "report":
            report.report()


main()
