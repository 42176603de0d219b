# A web server: each thread reads ten whole files, then appends to the log that all share.
# The numbers are those of filebench's own workload of this name.

set $dir=/data
set $nfiles=1000
set $meandirwidth=20
set $filesize=cvar(type=cvar-gamma,parameters=mean:16384;gamma:1.5)
set $nthreads=100
set $iosize=1m
set $meanappendsize=16k

define fileset name=pages,path=$dir,size=$filesize,entries=$nfiles,dirwidth=$meandirwidth,prealloc,readonly
define fileset name=logs,path=$dir,size=$filesize,entries=1,dirwidth=$meandirwidth,prealloc

define process name=server,instances=1
{
  thread name=worker,instances=$nthreads
  {
    flowop openfile name=open-1,filesetname=pages,fd=1
    flowop readwholefile name=read-1,fd=1,iosize=$iosize
    flowop closefile name=close-1,fd=1
    flowop openfile name=open-2,filesetname=pages,fd=1
    flowop readwholefile name=read-2,fd=1,iosize=$iosize
    flowop closefile name=close-2,fd=1
    flowop openfile name=open-3,filesetname=pages,fd=1
    flowop readwholefile name=read-3,fd=1,iosize=$iosize
    flowop closefile name=close-3,fd=1
    flowop openfile name=open-4,filesetname=pages,fd=1
    flowop readwholefile name=read-4,fd=1,iosize=$iosize
    flowop closefile name=close-4,fd=1
    flowop openfile name=open-5,filesetname=pages,fd=1
    flowop readwholefile name=read-5,fd=1,iosize=$iosize
    flowop closefile name=close-5,fd=1
    flowop openfile name=open-6,filesetname=pages,fd=1
    flowop readwholefile name=read-6,fd=1,iosize=$iosize
    flowop closefile name=close-6,fd=1
    flowop openfile name=open-7,filesetname=pages,fd=1
    flowop readwholefile name=read-7,fd=1,iosize=$iosize
    flowop closefile name=close-7,fd=1
    flowop openfile name=open-8,filesetname=pages,fd=1
    flowop readwholefile name=read-8,fd=1,iosize=$iosize
    flowop closefile name=close-8,fd=1
    flowop openfile name=open-9,filesetname=pages,fd=1
    flowop readwholefile name=read-9,fd=1,iosize=$iosize
    flowop closefile name=close-9,fd=1
    flowop openfile name=open-10,filesetname=pages,fd=1
    flowop readwholefile name=read-10,fd=1,iosize=$iosize
    flowop closefile name=close-10,fd=1
    flowop appendfilerand name=append-log,filesetname=logs,iosize=$meanappendsize,fd=2
  }
}

run 60
