"""Messages of Chinese operating systems, with the English forms that entries know.

A Chinese Windows, shell or C library prints its own messages translated, in a traceback that is English otherwise. The phrases
are those of glibc 2.36 and bash 5.2 (their zh_CN catalogs in Debian 12) and of Windows as users paste them
(for example github.com/babysor/MockingBird/issues/486 and github.com/xiaosimao/IP_POOL/issues/4). Only whole phrases that
mean nothing else are taken: not those that a person writes in a sentence.
"""

from __future__ import annotations

import re

from kb import lazy

PHRASES = {
    "没有那个文件或目录": "No such file or directory",
    "权限不够": "Permission denied",
    "设备上没有空间": "No space left on device",
    "无法分配内存": "Cannot allocate memory",
    "地址已在使用": "Address already in use",
    "拒绝连接": "Connection refused",
    "连接被对方重设": "Connection reset by peer",
    "断开的管道": "Broken pipe",
    "输入/输出错误": "Input/output error",
    "打开的文件过多": "Too many open files",
    "只读文件系统": "Read-only file system",
    "超出磁盘限额": "Disk quota exceeded",
    "设备或资源忙": "Device or resource busy",
    "网络不可达": "Network is unreachable",
    "没有到主机的路由": "No route to host",
    "不允许的操作": "Operation not permitted",
    "文件名过长": "File name too long",
    "未知的名称或服务": "Name or service not known",
    "域名解析暂时失败": "Temporary failure in name resolution",
    "资源暂时不可用": "Resource temporarily unavailable",
    "可执行文件格式错误": "Exec format error",
    "无法打开共享对象文件": "cannot open shared object file",
    "没有那个设备": "No such device",
    "过旧的文件控柄": "Stale file handle",
    "目录非空": "Directory not empty",
    "段错误": "Segmentation fault",
    "总线错误": "Bus error",
    "非法指令": "Illegal instruction",
    "已杀死": "Killed",
    "（核心已转储）": " (core dumped) ",
    "(核心已转储)": "(core dumped)",
    "：未找到命令": ": command not found",
    "未找到命令": "command not found",
    "系统找不到指定的文件": "The system cannot find the file specified",
    "系统找不到指定的路径": "The system cannot find the path specified",
    "拒绝访问。": "Access is denied",
    "另一个程序正在使用此文件，进程无法访问": "The process cannot access the file because it is being used by another process",
    "找不到指定的模块": "The specified module could not be found",
    "找不到指定的程序": "The specified procedure could not be found",
    "动态链接库(DLL)初始化例程失败": "A dynamic link library (DLL) initialization routine failed",
    "页面文件太小，无法完成操作": "The paging file is too small for this operation to complete",
    "客户端没有所需的特权": "A required privilege is not held by the client",
    "由于目标计算机积极拒绝，无法连接": "No connection could be made because the target machine actively refused it",
    "不是内部或外部命令": "is not recognized as an internal or external command",
    "磁盘空间不足。": "There is not enough space on the disk",
}  # fmt: skip
_ANY = lazy.compile("|".join(map(re.escape, sorted(PHRASES, key=len, reverse=True))))
_CHINESE = "\u4e00"  # one like it, or above it, stands in all of them; bars and quotes are no ASCII either
# The line of a script, as bash names it:   run.sh: 行 3:   run.sh: 第 3 行：
_LINE = lazy.compile(r"(?<=: )(?:行 |第 )(?P<line>\d{1,9})(?::| 行：)\s?")


def english(text: str) -> str:
    """The text with each of the `PHRASES` replaced by its English form."""
    if max(text, default="") < _CHINESE:
        return text
    text = _ANY.sub(lambda found: PHRASES[found.group()], text)
    return _LINE.sub(r"line \g<line>: ", text) if "行" in text else text
